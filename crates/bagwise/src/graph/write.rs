//! Graphs of bags for programs that draw them: GraphML (`.graphml`) or Graphviz (`.dot`, `.gv`).
//!
//! One undirected graph whose parts are the bags, because many readers take only the first graph of a file. A node
//! carries its bag, its number in it (from 1), its share of the degrees, and a value for its colour or size; an edge
//! carries its length and its share of the affinities at both ends.

use std::io::{self, Write};
use std::path::Path;

use bagwise_core::{Dataset, Error, Place, Result};
use bagwise_io::{GRAPHS_MARK, save};

use super::Graph;

/// A kind of file, by the endings of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GraphFormat {
    /// GraphML: XML, for Gephi, yEd, networkx, igraph.
    GraphMl,
    /// Graphviz.
    Dot,
}

impl GraphFormat {
    /// The format that a file name asks for.
    pub fn of(path: &Path) -> Result<GraphFormat> {
        let ending = path.extension().and_then(|e| e.to_str()).unwrap_or("").to_ascii_lowercase();
        match ending.as_str() {
            "graphml" => Ok(GraphFormat::GraphMl),
            "dot" | "gv" => Ok(GraphFormat::Dot),
            _ => Err(Error::data(
                Place::of(path.display().to_string()),
                "the file extension is not a known graph format",
                "use .graphml, .dot or .gv",
            )),
        }
    }
}

/// Writes the graphs of bags with their ids and one value per node, whole or not at all.
pub fn write_graphs(path: &Path, data: &Dataset, graphs: &[Graph], values: &[Vec<f64>]) -> Result<()> {
    let format = GraphFormat::of(path)?;
    save::whole(path, |file| match format {
        GraphFormat::GraphMl => graph_ml(file, data, graphs, values),
        GraphFormat::Dot => dot(file, data, graphs, values),
    })
}

fn graph_ml(file: &mut dyn Write, data: &Dataset, graphs: &[Graph], values: &[Vec<f64>]) -> io::Result<()> {
    writeln!(file, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- {GRAPHS_MARK} -->")?;
    writeln!(file, "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">")?;
    for (name, of, kind) in [
        ("bag", "node", "string"),
        ("instance", "node", "int"),
        ("degree", "node", "double"),
        ("value", "node", "double"),
        ("length", "edge", "double"),
        ("affinity_source", "edge", "double"),
        ("affinity_target", "edge", "double"),
    ] {
        writeln!(file, "  <key id=\"{name}\" for=\"{of}\" attr.name=\"{name}\" attr.type=\"{kind}\"/>")?;
    }
    writeln!(file, "  <graph id=\"bags\" edgedefault=\"undirected\">")?;
    for (b, (id, graph)) in data.bags.ids().iter().zip(graphs).enumerate() {
        let id = escaped(id, &[('&', "&amp;"), ('<', "&lt;"), ('>', "&gt;")]);
        for (i, degree) in graph.degree.iter().enumerate() {
            write!(file, "    <node id=\"b{b}i{i}\"><data key=\"bag\">{id}</data>")?;
            write!(
                file,
                "<data key=\"instance\">{}</data><data key=\"degree\">{degree}</data>",
                data.instance_number(b, i)
            )?;
            writeln!(file, "<data key=\"value\">{}</data></node>", values[b][i])?;
        }
        for edge in &graph.edges {
            let ([u, v], [p, q]) = (edge.ends, edge.affinity);
            write!(file, "    <edge source=\"b{b}i{u}\" target=\"b{b}i{v}\">")?;
            write!(file, "<data key=\"length\">{}</data>", edge.length)?;
            write!(file, "<data key=\"affinity_source\">{p}</data>")?;
            writeln!(file, "<data key=\"affinity_target\">{q}</data></edge>")?;
        }
    }
    writeln!(file, "  </graph>\n</graphml>")
}

fn dot(file: &mut dyn Write, data: &Dataset, graphs: &[Graph], values: &[Vec<f64>]) -> io::Result<()> {
    writeln!(file, "// {GRAPHS_MARK}\ngraph bags {{")?;
    for (b, (id, graph)) in data.bags.ids().iter().zip(graphs).enumerate() {
        let id = escaped(id, &[('\\', "\\\\"), ('"', "\\\"")]);
        writeln!(file, "  subgraph cluster_{b} {{\n    label=\"{id}\";")?;
        for (i, degree) in graph.degree.iter().enumerate() {
            let (label, value) = (data.instance_number(b, i), values[b][i]);
            writeln!(file, "    b{b}i{i} [label=\"{label}\", degree=\"{degree}\", value=\"{value}\"];")?;
        }
        for edge in &graph.edges {
            let ([u, v], [p, q]) = (edge.ends, edge.affinity);
            write!(file, "    b{b}i{u} -- b{b}i{v} [length=\"{}\"", edge.length)?;
            writeln!(file, ", affinity_source=\"{p}\", affinity_target=\"{q}\"];")?;
        }
        writeln!(file, "  }}")?;
    }
    writeln!(file, "}}")
}

fn escaped(text: &str, table: &[(char, &str)]) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match table.iter().find(|(from, _)| *from == c) {
            Some((_, to)) => out.push_str(to),
            // No control character may stand in XML, nor these two; nor does one help in a picture.
            None => out.push(if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') { ' ' } else { c }),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Edge;
    use bagwise_core::{Bags, Instances, Mat};

    fn written(name: &str) -> String {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        let edge = Edge { ends: [0, 1], length: 2.0, affinity: [1.0, 1.0] };
        let graphs = [
            Graph { degree: vec![1.0, 1.0], edges: vec![edge] },
            Graph { degree: vec![0.0], edges: Vec::new() },
        ];
        let ids = vec!["a<\"b\"&\\".to_string(), "c\u{1}\u{fffe}\u{ffff}d".to_string()];
        let bags = Bags::new(Instances::F64(Mat::zeros(3, 1)), vec![0, 2, 3]).unwrap().with_ids(ids).unwrap();
        let mut data = Dataset::new("d", bags);
        data.drawn = Some(vec![0, 4, 0]);
        write_graphs(&path, &data, &graphs, &[vec![0.5, -0.5], vec![0.0]]).unwrap();
        std::fs::read_to_string(path).unwrap()
    }

    #[test]
    fn names_are_escaped_and_every_node_and_edge_is_there() {
        let text = written("g.graphml");
        assert!(text.contains("a&lt;\"b\"&amp;\\</data>"), "{text}");
        // None of the three may stand in XML.
        assert!(text.contains("c   d</data>"), "{text}");
        assert_eq!((text.matches("<node ").count(), text.matches("<edge ").count()), (3, 1));
        // As the file counts them.
        assert!(text.contains("<data key=\"instance\">5</data>"), "{text}");
        assert!(text.contains("<edge source=\"b0i0\" target=\"b0i1\"><data key=\"length\">2</data>"));
        let text = written("g.DOT");
        assert!(text.contains("label=\"a<\\\"b\\\"&\\\\\""), "{text}");
        assert!(text.contains("b0i0 -- b0i1 [length=\"2\""));
        assert_eq!(text.matches('{').count(), text.matches('}').count());
    }

    #[test]
    fn other_endings_are_refused_with_a_remedy() {
        for name in ["g", "g.png", "graphml"] {
            let error = GraphFormat::of(Path::new(name)).unwrap_err().to_string();
            assert!(error.contains(".graphml, .dot or .gv"), "{error}");
        }
    }
}
