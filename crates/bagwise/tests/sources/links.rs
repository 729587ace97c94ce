//! Links between documents lead to files and headings that are there.

use std::path::Path;

use super::crates;

/// The anchors of a page, as GitHub makes them: lower case, no punctuation, hyphens for spaces.
fn anchors(page: &str) -> Vec<String> {
    let mut code = false;
    let mut all = Vec::new();
    for line in page.lines() {
        code ^= line.starts_with("```");
        if let Some(heading) = line.strip_prefix('#').filter(|_| !code) {
            let kept = |c: &char| c.is_alphanumeric() || [' ', '-', '_'].contains(c);
            let text = heading.trim_start_matches('#').trim().to_lowercase();
            all.push(text.chars().filter(kept).map(|c| if c == ' ' { '-' } else { c }).collect());
        }
    }
    all
}

#[test]
fn links_lead_somewhere() {
    let root = crates().parent().expect("crates/ lies in the repository");
    let pages = |folder: &Path| {
        let all = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        all.filter(|path| path.extension().is_some_and(|e| e == "md")).collect::<Vec<_>>()
    };
    let mut dead = Vec::new();
    let mut checked = 0;
    for path in [pages(root), pages(&root.join("docs"))].concat() {
        let text = std::fs::read_to_string(&path).unwrap();
        let targets = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        for target in targets.filter(|t| !t.contains("://") && !t.contains(char::is_whitespace)) {
            let (file, anchor) = target.split_once('#').map_or((target, None), |(f, a)| (f, Some(a)));
            let to = if file.is_empty() { path.clone() } else { path.parent().unwrap().join(file) };
            checked += 1;
            let there = match anchor {
                Some(anchor) => {
                    std::fs::read_to_string(&to).is_ok_and(|page| anchors(&page).iter().any(|a| a == anchor))
                }
                None => to.exists(),
            };
            if !there {
                dead.push(format!("{}: {target}", path.display()));
            }
        }
    }
    assert!(dead.is_empty(), "{}", dead.join("\n"));
    assert!(checked > 50, "only {checked} links were found");
}
