//! Writing HTML and SVG. Elements are functions that take what is inside as a closure, so every tag that is opened is
//! closed in the right place; text and attributes are escaped where they are written, so nothing that came from data
//! can become markup. A template language would promise the same and add a dependency and a second language.

/// A piece of a page.
#[derive(Clone, Debug, Default)]
pub(crate) struct Markup(String);

impl Markup {
    /// An element with something inside.
    pub(crate) fn tag(&mut self, name: &str, attributes: &[(&str, &str)], inside: impl FnOnce(&mut Markup)) {
        self.open(name, attributes);
        self.0.push('>');
        inside(self);
        self.0 += "</";
        self.0 += name;
        self.0.push('>');
    }

    /// An element with text inside.
    pub(crate) fn leaf(&mut self, name: &str, attributes: &[(&str, &str)], text: &str) {
        self.tag(name, attributes, |m| m.text(text));
    }

    /// An element that has no inside: `meta`, `input`, shapes of SVG.
    pub(crate) fn void(&mut self, name: &str, attributes: &[(&str, &str)]) {
        self.open(name, attributes);
        self.0 += "/>";
    }

    fn open(&mut self, name: &str, attributes: &[(&str, &str)]) {
        self.0.push('<');
        self.0 += name;
        for (key, value) in attributes {
            self.0.push(' ');
            self.0 += key;
            self.0 += "=\"";
            self.text(value);
            self.0.push('"');
        }
    }

    /// Text; characters that mean something to a browser, and those that mean nothing to anyone, are replaced.
    pub(crate) fn text(&mut self, text: &str) {
        for c in text.chars() {
            match c {
                '<' => self.0 += "&lt;",
                '>' => self.0 += "&gt;",
                '&' => self.0 += "&amp;",
                '"' => self.0 += "&quot;",
                '\'' => self.0 += "&#39;",
                '\n' | '\t' => self.0.push(c),
                c if c.is_control() => self.0.push('\u{fffd}'),
                c => self.0.push(c),
            }
        }
    }

    /// What is ours and fixed: style and script.
    pub(crate) fn fixed(&mut self, text: &'static str) {
        self.0 += text;
    }

    /// Another piece.
    pub(crate) fn append(&mut self, other: &Markup) {
        self.0 += &other.0;
    }

    /// The text of the page.
    pub(crate) fn into_string(self) -> String {
        self.0
    }
}

/// A number with this many decimals; what rounds to 0 has no sign.
pub(crate) fn fixed(value: f64, digits: usize) -> String {
    let text = format!("{value:.digits$}");
    let nothing = text.starts_with('-') && text.bytes().all(|b| b"-0.".contains(&b));
    if nothing { text[1..].to_string() } else { text.replace('-', "\u{2212}") }
}

/// The same, or a dash.
pub(crate) fn maybe(value: Option<f64>, digits: usize) -> String {
    value.map_or("\u{2013}".into(), |v| fixed(v, digits))
}

/// A place in a drawing: a tenth of a unit is finer than a screen shows.
pub(crate) fn place(value: f64) -> String {
    let rounded = (value * 10.0).round() / 10.0;
    if rounded == 0.0 { "0".into() } else { format!("{rounded}") }
}

/// A time as people say it.
pub(crate) fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 0.0095 => format!("{:.1} ms", 1000.0 * s),
        s if s < 0.995 => format!("{s:.2} s"),
        s if s < 99.5 => format!("{s:.1} s"),
        s if s < 5400.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}

/// A probability of chance.
pub(crate) fn chance(p: f64) -> String {
    match p {
        p if p < 0.0001 => "< 0.0001".into(),
        p if p < 0.0995 => format!("{p:.4}"),
        p => format!("{p:.3}"),
    }
}

/// "a", "a and b", "a, b and c".
pub(crate) fn listed<S: AsRef<str>>(words: &[S]) -> String {
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    match words.split_last() {
        None => String::new(),
        Some((last, [])) => (*last).to_string(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_from_outside_becomes_markup() {
        let mut m = Markup::default();
        m.leaf("td", &[("title", "\" onload=\"x")], "<script>alert('&')</script>\u{0}");
        assert_eq!(
            m.into_string(),
            "<td title=\"&quot; onload=&quot;x\">&lt;script&gt;alert(&#39;&amp;&#39;)&lt;/script&gt;\u{fffd}</td>"
        );
    }

    #[test]
    fn numbers_read_as_people_write_them() {
        assert_eq!(
            [fixed(-0.0001, 3), fixed(-1.25, 1), maybe(None, 2)],
            ["0.000", "\u{2212}1.2", "\u{2013}"]
        );
        assert_eq!(
            [0.004, 0.5, 12.34, 600.0, 7200.0].map(duration),
            ["4.0 ms", "0.50 s", "12.3 s", "10 min", "2.0 h"]
        );
        assert_eq!(listed(&["a", "b", "c"]), "a, b and c");
        assert_eq!([0.0, -0.04, 12.345].map(place), ["0", "0", "12.3"]);
    }
}
