//! Names of an experiment's data sets and methods as users give them: one by one, or several with commas between them, although a
//! name may have commas itself ("mi-boost, 50 by error").

use bagwise::{Error, Result};

/// Those of `known` that are given; an error for any other, which calls it a `what`.
pub(super) fn named(given: &[String], known: &[String], what: &'static str) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for text in given {
        let parts: Vec<&str> = text.split(',').collect();
        let mut from = 0;
        while from < parts.len() {
            // The longest name that begins here.
            let name = (from + 1..=parts.len()).rev().find_map(|to| {
                let name = parts[from..to].join(",");
                known.iter().find(|k| k.trim() == name.trim()).map(|k| (k, to))
            });
            let Some((name, to)) = name else {
                return Err(Error::unknown(what, parts[from].trim(), known.iter().map(String::as_str)));
            };
            found.push(name.clone());
            from = to;
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::named;

    #[test]
    fn commas_part_names_and_may_be_in_them() {
        let known = ["mi-boost", "mi-boost, 50 by error", "isk", "isk(psi=2,t=10)"].map(String::from);
        let of = |given: &str| named(&[given.into()], &known, "method");
        assert_eq!(of("isk").unwrap(), ["isk"]);
        assert_eq!(of("mi-boost, 50 by error").unwrap(), ["mi-boost, 50 by error"]);
        assert_eq!(of("isk(psi=2,t=10),mi-boost").unwrap(), ["isk(psi=2,t=10)", "mi-boost"]);
        assert_eq!(
            of("mi-boost,mi-boost, 50 by error,isk").unwrap(),
            ["mi-boost", "mi-boost, 50 by error", "isk"]
        );
        let said = of("isk,mi-bost").unwrap_err().to_string();
        assert!(said.contains("mi-bost") && said.contains("mi-boost"), "{said}");
        assert!(of("mi-boost, 60 by error").is_err());
        assert_eq!(named(&[], &known, "method").unwrap(), Vec::<String>::new());
    }
}
