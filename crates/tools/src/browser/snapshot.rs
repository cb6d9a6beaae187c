//! Accessibility trees as text: one line an element, indented, with a ref where something can be done.
//!
//! ```text
//! - heading "Log in" [level=1]
//! - textbox "Name" [required] [ref=e1]: ann
//! - button "Go" [ref=e2]
//! ```

use std::collections::HashMap;
use std::fmt::Write as _;

use crate::browser::node::{Node, Tree};
use crate::browser::outline::{self, Item, Piece, merged, squeezed};
use crate::browser::refs::{Element, Refs};

/// Deepest nesting that is followed, and most nodes that are looked at: pages may be hostile.
const MAX_DEPTH: usize = 300;
const MAX_NODES: usize = 200_000;

/// Longest name of an element, in characters.
const MAX_NAME: usize = 300;

/// Roles of elements that somebody can do something with.
const INTERACTIVE: [&str; 23] = [
    "button",
    "checkbox",
    "colorwell",
    "combobox",
    "date",
    "datetime",
    "disclosuretriangle",
    "inputtime",
    "link",
    "listbox",
    "menuitem",
    "menuitemcheckbox",
    "menuitemradio",
    "option",
    "radio",
    "scrollbar",
    "searchbox",
    "slider",
    "spinbutton",
    "switch",
    "tab",
    "textbox",
    "treeitem",
];

/// Roles that say nothing: what is in them is shown in their place.
const TRANSPARENT: [&str; 12] = [
    "",
    "generic",
    "none",
    "presentation",
    "ignored",
    "labeltext",
    "layouttable",
    "layouttablecell",
    "layouttablerow",
    "menulistpopup",
    "rootwebarea",
    "rowgroup",
];

/// Roles that are shown without a name only when everything is wanted.
const GROUPING: [&str; 8] =
    ["article", "figure", "group", "region", "section", "sectionheader", "sectionfooter", "complementary"];

/// A page as text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Snapshot {
    /// The lines.
    pub(crate) text: String,
    /// The elements that have refs in it.
    pub(crate) shown: Vec<(u32, Element)>,
    /// What the page is called.
    pub(crate) title: String,
}

/// Which part of a page is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Detail {
    /// What can be read and used.
    Compact,
    /// All structure too, where links lead, and refs for whatever has text in it.
    Full,
}

/// Writes the trees of a page, of which the first is the outermost.
pub(crate) fn write(trees: &[Tree], refs: &mut Refs, detail: Detail) -> Snapshot {
    let Some(root) = trees.first().and_then(|tree| tree.nodes.first()) else { return Snapshot::default() };
    let indexes = trees.iter().map(index).collect();
    let mut writer = Writer { trees, indexes, refs, detail, shown: Vec::new(), looked: 0 };
    let pieces = merged(writer.inside(0, root, 0));
    Snapshot { text: outline::text(&pieces), shown: writer.shown, title: root.name() }
}

fn index(tree: &Tree) -> HashMap<&str, &Node> {
    tree.nodes.iter().map(|node| (node.id.as_str(), node)).collect()
}

struct Writer<'a> {
    trees: &'a [Tree],
    indexes: Vec<HashMap<&'a str, &'a Node>>,
    refs: &'a mut Refs,
    detail: Detail,
    shown: Vec<(u32, Element)>,
    looked: usize,
}

impl<'a> Writer<'a> {
    /// What is in a node: its children, or the page in its frame.
    fn inside(&mut self, at: usize, node: &'a Node, depth: usize) -> Vec<Piece> {
        if depth > MAX_DEPTH {
            return vec![Piece::Text("…".to_owned())];
        }
        let mut pieces = Vec::new();
        for child in &node.child_ids {
            let child = self.indexes.get(at).and_then(|known| known.get(child.as_str())).copied();
            if let Some(child) = child {
                self.node(at, child, depth + 1, &mut pieces);
            }
        }
        let trees = self.trees;
        let frame = |tree: &&(usize, &'a Tree)| {
            tree.1.within.is_some_and(|(around, owner)| around == at && node.element == Some(owner))
        };
        if let Some((inner, tree)) = trees.iter().enumerate().skip(1).find(|tree| frame(&tree))
            && inner > at
            && let Some(root) = tree.nodes.first()
        {
            pieces.extend(self.inside(inner, root, depth + 1));
        }
        pieces
    }

    fn node(&mut self, at: usize, node: &'a Node, depth: usize, into: &mut Vec<Piece>) {
        self.looked += 1;
        if self.looked > MAX_NODES {
            return;
        }
        let role = node.role();
        match role.as_str() {
            "statictext" => return into.push(Piece::Text(node.name())),
            "linebreak" => return into.push(Piece::Text(" ".to_owned())),
            "inlinetextbox" | "listmarker" => return,
            _ => {}
        }
        let usable = !node.ignored && (INTERACTIVE.contains(&role.as_str()) || node.is("focusable"));
        let name = squeezed(&node.name());
        let hidden = node.ignored || TRANSPARENT.contains(&role.as_str());
        if hidden && !usable || (self.is_compact() && name.is_empty() && GROUPING.contains(&role.as_str())) {
            return into.extend(self.inside(at, node, depth));
        }
        let mut inside = merged(self.inside(at, node, depth));
        if let [Piece::Text(text)] = inside.as_slice()
            && *text == name
        {
            inside.clear();
        }
        let value = squeezed(&node.value());
        // What a field holds is also told as the text inside of it.
        if !value.is_empty() && matches!(inside.as_slice(), [Piece::Text(_)]) {
            inside.clear();
        }
        let named = !name.is_empty() || !value.is_empty();
        if inside.is_empty() && !named && !usable && !matches!(role.as_str(), "iframe" | "separator") {
            return;
        }
        let wants_ref = usable || (!self.is_compact() && (named || !inside.is_empty()));
        let head = self.head(at, node, &role, &name, wants_ref);
        into.push(Piece::Item(Item { head, value, inside }));
    }

    /// Role, name, marks and ref.
    fn head(&mut self, at: usize, node: &Node, role: &str, name: &str, wants_ref: bool) -> String {
        let mut head = if role.is_empty() { "generic".to_owned() } else { role.to_owned() };
        if !name.is_empty() {
            let short: String = name.chars().take(MAX_NAME).collect();
            // Writing into a string cannot fail.
            let _ = write!(head, " \"{}\"", short.replace('"', "'"));
        }
        let words = head.clone();
        for mark in node.marks(!self.is_compact()) {
            let _ = write!(head, " [{mark}]");
        }
        if wants_ref && let (Some(number), Some(tree)) = (node.element, self.trees.get(at)) {
            let element = Element { node: number, ..tree.place.clone() };
            let name = self.refs.name(&element, || words);
            self.shown.push((name, element));
            let _ = write!(head, " [ref=e{name}]");
        }
        head
    }

    fn is_compact(&self) -> bool {
        self.detail == Detail::Compact
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn tree(nodes: Value, within: Option<(usize, i64)>) -> Tree {
        let place = Element { session: "s".into(), frame: "f".into(), document: "d".into(), node: 0 };
        Tree { place, within, nodes: serde_json::from_value(nodes).unwrap() }
    }

    fn node(id: u32, role: &str, name: &str, children: &[u32]) -> Value {
        let children: Vec<String> = children.iter().map(ToString::to_string).collect();
        json!({
            "nodeId": id.to_string(), "role": { "value": role }, "name": { "value": name },
            "childIds": children, "backendDOMNodeId": id,
        })
    }

    fn with(mut node: Value, key: &str, value: Value) -> Value {
        node[key] = value;
        node
    }

    fn form() -> Tree {
        let name = with(node(6, "textbox", "Name", &[7]), "value", json!({ "value": "ann" }));
        let name = with(
            name,
            "properties",
            json!([
                { "name": "required", "value": { "value": true } },
                { "name": "focusable", "value": { "value": true } },
                { "name": "invalid", "value": { "value": "false" } },
            ]),
        );
        let heading = with(
            node(2, "heading", "Log in", &[3]),
            "properties",
            json!([
                { "name": "level", "value": { "value": 1 } },
            ]),
        );
        tree(
            json!([
                node(1, "RootWebArea", "Shop", &[2, 4, 8, 10]),
                heading,
                node(3, "StaticText", "Log in", &[]),
                node(4, "generic", "", &[5, 6]),
                node(5, "StaticText", "  Who are\nyou?", &[]),
                name,
                node(7, "StaticText", "ann", &[]),
                node(8, "button", "Go", &[9]),
                node(9, "StaticText", "Go", &[]),
                node(10, "region", "", &[11]),
                node(11, "paragraph", "", &[12]),
                node(12, "StaticText", "Bye", &[]),
            ]),
            None,
        )
    }

    #[test]
    fn a_page_is_written_line_by_line_with_refs_where_something_can_be_done() {
        let mut refs = Refs::default();

        let snapshot = write(&[form()], &mut refs, Detail::Compact);

        assert_eq!(
            snapshot.text,
            "- heading \"Log in\" [level=1]\n\
             - text: Who are you?\n\
             - textbox \"Name\" [required] [ref=e1]: ann\n\
             - button \"Go\" [ref=e2]\n\
             - paragraph: Bye"
        );
        assert_eq!((snapshot.shown.len(), snapshot.title.as_str()), (2, "Shop"));
        assert_eq!(refs.find("@e2").unwrap().1, "button \"Go\"");
    }

    #[test]
    fn refs_stay_the_same_and_everything_has_one_when_all_is_wanted() {
        let mut refs = Refs::default();
        write(&[form()], &mut refs, Detail::Compact);

        let snapshot = write(&[form()], &mut refs, Detail::Full);

        assert_eq!(
            snapshot.text,
            "- heading \"Log in\" [level=1] [ref=e3]\n\
             - text: Who are you?\n\
             - textbox \"Name\" [required] [ref=e1]: ann\n\
             - button \"Go\" [ref=e2]\n\
             - region [ref=e5]:\n  - paragraph [ref=e4]: Bye"
        );
    }

    #[test]
    fn frames_stand_where_they_are_in_the_page() {
        let outer = tree(json!([node(1, "RootWebArea", "", &[2]), node(2, "Iframe", "", &[])]), None);
        let inner =
            tree(json!([node(1, "RootWebArea", "", &[2]), node(2, "button", "In", &[])]), Some((0, 2)));

        let snapshot = write(&[outer, inner], &mut Refs::default(), Detail::Compact);

        assert_eq!(snapshot.text, "- iframe:\n  - button \"In\" [ref=e1]");
    }

    proptest! {
        #[test]
        fn any_tree_ends_in_a_text(
            nodes in proptest::collection::vec(
                (0_u32..12, prop::sample::select(vec!["generic", "button", "StaticText", "list", "Iframe"]),
                 ".{0,8}", proptest::collection::vec(0_u32..12, 0..4), any::<bool>()),
                1..12),
            full in any::<bool>(),
        ) {
            let nodes: Vec<Value> = nodes.iter()
                .map(|(id, role, name, children, ignored)| {
                    // Loops in both directions are cut by depth and count; few children keep this quick.
                    let children: Vec<u32> = children.iter().copied().filter(|child| child > id).collect();
                    with(node(*id, role, name, &children), "ignored", json!(ignored))
                })
                .collect();
            let trees = [tree(json!(nodes), None), tree(json!(nodes), Some((0, 3)))];
            let detail = if full { Detail::Full } else { Detail::Compact };
            write(&trees, &mut Refs::default(), detail);
        }
    }
}
