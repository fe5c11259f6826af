//! XML as a small tree with limits: enough for Hadoop's site files and for the XML form of its REST answers.

use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

/// Deepest nesting read.
pub const MAX_DEPTH: usize = 64;

/// Most elements read: half as many again as a listing of 70,000 tasks has. The shortest takes four bytes of text, and a hundred or two of memory.
pub const MAX_ELEMENTS: usize = 1_500_000;

/// Most attributes of one element: each is looked for among all before it.
pub const MAX_ATTRIBUTES: usize = 64;

/// An element with all that is in it.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Element {
    /// Local name.
    pub name: String,
    /// Attributes by local name.
    pub attributes: Vec<(String, String)>,
    /// Text directly inside, pieces joined.
    pub text: String,
    /// Elements directly inside, in order.
    pub children: Vec<Element>,
    /// Byte offset of its start tag.
    pub offset: usize,
}

/// Why a text is no XML that is read here.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct XmlError {
    /// What is wrong.
    pub why: String,
    /// Byte offset.
    pub offset: usize,
    /// The text ends before its outermost element does.
    pub truncated: bool,
}

impl Element {
    /// The text of the first child of that name.
    pub fn child_text(&self, name: &str) -> Option<&str> {
        self.children.iter().find(|c| c.name == name).map(|c| c.text.as_str())
    }

    /// An attribute's value.
    pub fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(n, _)| n == name).map(|(_, v)| v.as_str())
    }
}

/// Line and column, both from 1, of a byte offset.
pub fn position(text: &str, offset: usize) -> (usize, usize) {
    let before = &text.as_bytes()[..offset.min(text.len())];
    let line = before.iter().filter(|b| **b == b'\n').count() + 1;
    let column = before.iter().rev().take_while(|b| **b != b'\n').count() + 1;
    (line, column)
}

/// Reads a document and gives its outermost element.
pub fn parse(text: &str) -> Result<Element, XmlError> {
    let mut reader = Reader::from_str(text);
    reader.config_mut().expand_empty_elements = true;
    let (mut open, mut elements): (Vec<Element>, usize) = (Vec::new(), 0);
    loop {
        let offset = reader.buffer_position() as usize;
        let bad = |why: String| XmlError { why, offset, truncated: false };
        let event = reader.read_event().map_err(|e| XmlError {
            why: e.to_string(),
            offset: reader.error_position() as usize,
            truncated: matches!(e, quick_xml::Error::Syntax(_)),
        })?;
        match event {
            Event::Start(_) if open.len() >= MAX_DEPTH => {
                return Err(bad(format!("elements are nested more than {MAX_DEPTH} deep")));
            }
            Event::Start(_) if elements >= MAX_ELEMENTS => {
                return Err(bad(format!("there are more than {MAX_ELEMENTS} elements")));
            }
            Event::Start(tag) => {
                elements += 1;
                open.push(element(&tag, offset).map_err(bad)?);
            }
            Event::End(_) => {
                let Some(done) = open.pop() else { return Err(bad("an end tag without its start".to_owned())) };
                match open.last_mut() {
                    Some(parent) => parent.children.push(done),
                    None => return Ok(done),
                }
            }
            Event::Text(piece) => append(&mut open, &piece.xml_content(XmlVersion::Implicit1_0)),
            Event::CData(piece) => append(&mut open, &piece.xml_content(XmlVersion::Implicit1_0)),
            Event::GeneralRef(entity) => {
                let plain = quick_xml::escape::unescape(&format!("&{};", &*entity)).map(|s| s.into_owned());
                append(&mut open, &plain.map_err(|e| bad(e.to_string()))?);
            }
            Event::Eof if open.is_empty() => return Err(bad("there is no element in it".to_owned())),
            Event::Eof => {
                let why = format!("it ends inside <{}>", open.last().map_or("", |e| e.name.as_str()));
                return Err(XmlError { why, offset, truncated: true });
            }
            // A document type is passed over, so the entities it may declare are unknown here.
            _ => {}
        }
    }
}

fn append(open: &mut [Element], piece: &str) {
    if let Some(element) = open.last_mut() {
        element.text.push_str(piece);
    }
}

fn element(tag: &BytesStart<'_>, offset: usize) -> Result<Element, String> {
    let mut element = Element { name: tag.local_name().as_ref().to_owned(), offset, ..Element::default() };
    for (nth, attribute) in tag.attributes().enumerate() {
        if nth >= MAX_ATTRIBUTES {
            return Err(format!("an element has more than {MAX_ATTRIBUTES} attributes"));
        }
        let attribute = attribute.map_err(|e| e.to_string())?;
        let value = attribute.normalized_value(XmlVersion::Implicit1_0).map_err(|e| e.to_string())?;
        element.attributes.push((attribute.key.local_name().as_ref().to_owned(), value.into_owned()));
    }
    Ok(element)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn entities_comments_and_character_data_make_one_text() {
        let root =
            parse("<?xml version='1.0'?><a x:b='1 &lt; 2'><!-- no --><c>1 &amp; <![CDATA[<2>]]> &#65;</c><d/></a>")
                .unwrap();
        assert_eq!(root.attribute("b"), Some("1 < 2"));
        assert_eq!(root.child_text("c"), Some("1 & <2> A"));
        assert_eq!(root.child_text("d"), Some(""));
    }

    #[test]
    fn a_cut_document_says_so_and_a_deep_one_is_refused() {
        assert!(parse("<a><b>1</b>").unwrap_err().truncated);
        assert!(parse("<a><b").unwrap_err().truncated);
        assert!(parse("").is_err());
        assert!(parse(&"<a>".repeat(10_000)).unwrap_err().why.contains("deep"));
        assert!(parse("<!DOCTYPE a [<!ENTITY x 'y'>]><a>&x;</a>").is_err());
    }

    #[test]
    fn more_elements_or_attributes_than_any_answer_has_are_refused() {
        let of = |elements: usize| parse(&format!("<a>{}</a>", "<b/>".repeat(elements - 1)));
        assert_eq!(of(MAX_ELEMENTS).unwrap().children.len(), MAX_ELEMENTS - 1);
        assert!(of(MAX_ELEMENTS + 1).unwrap_err().why.contains("more than"));
        let with = |attributes: usize| {
            parse(&format!("<a {}/>", (0..attributes).map(|n| format!("b{n}='' ")).collect::<String>()))
        };
        assert_eq!(with(MAX_ATTRIBUTES).unwrap().attributes.len(), MAX_ATTRIBUTES);
        assert!(with(MAX_ATTRIBUTES + 1).unwrap_err().why.contains("attributes"));
        // As many as an answer may hold would be compared two by two.
        assert!(with(1_000_000).is_err());
    }

    proptest! {
        #[test]
        fn no_text_makes_the_reader_panic(text in "(<|>|/|a|b|=|\"|'|&|;|!|\\[|\\]|-|\\?| |é|#){0,40}") {
            let _ = parse(&text);
        }
    }
}
