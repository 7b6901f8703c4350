//! Knows which figure stands beside the answer: the first of the article, with the sentence that
//! says what it shows.
//!
//! Must not know what is drawn.

use crate::report::document::Node;

/// Moves the first figure that is not folded away, with the sentence below it, right behind the
/// answer, which is the first node.
pub(super) fn lead(body: &mut Vec<Node>) {
    let Some(found) = taken(body) else { return };
    let at = body.len().min(1);
    body.splice(at..at, found);
}

/// The figure, and the paragraph right behind it.
fn taken(nodes: &mut Vec<Node>) -> Option<Vec<Node>> {
    for at in 0..nodes.len() {
        match &mut nodes[at] {
            Node::Figure(_) => {
                let said = matches!(nodes.get(at + 1), Some(Node::Paragraph(_)));
                return Some(nodes.drain(at..=at + usize::from(said)).collect());
            }
            Node::Section { body, folded: false, .. } => {
                if let Some(found) = taken(body) {
                    if body.is_empty() {
                        nodes.remove(at);
                    }
                    return Some(found);
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::tests::fixture::dots;
    use crate::report::document::Prose;

    fn said(words: &str) -> Node {
        Node::Paragraph(Prose::verbatim(words))
    }

    #[test]
    fn the_first_open_figure_stands_behind_the_answer_with_its_sentence() {
        let section = |name: &str, body| Node::section(name.into(), Prose::verbatim(name), body);
        let figure = Node::Figure(dots(2));
        let folded = section("folded", vec![Node::Figure(dots(1))]).fold();
        let open = section("open", vec![said("before"), figure.clone(), said("it"), said("after")]);
        let mut body = vec![said("answer"), folded.clone(), open];
        lead(&mut body);
        let left = section("open", vec![said("before"), said("after")]);
        assert_eq!(body, [said("answer"), figure.clone(), said("it"), folded, left]);
        let mut alone = vec![said("answer"), section("one", vec![figure.clone(), said("it")])];
        lead(&mut alone);
        assert_eq!(alone, [said("answer"), figure, said("it")]);
        let mut none = vec![said("answer")];
        lead(&mut none);
        assert_eq!(none, [said("answer")]);
    }
}
