//! What an answer's body is, before anything is read from it.

use super::error::Kind;
use super::xml;
use serde_json::Value;

/// Is a successful answer's body JSON or XML, by its first characters?
pub fn recognise(body: &[u8]) -> Result<(), Kind> {
    let start = &body[..body.len().min(2048)];
    let start = String::from_utf8_lossy(start);
    let start = start.trim_start_matches('\u{feff}').trim_start();
    match start.chars().next() {
        None => Err(Kind::Empty),
        Some('{' | '[') => Ok(()),
        Some('<') if is_html(start) => Err(Kind::Html(title(start))),
        Some('<') => Ok(()),
        Some(_) if start.contains("There is no active RM right now") || start.contains("This is standby RM") => {
            Err(Kind::Standby { active: None })
        }
        Some(_) => Err(Kind::PlainText(words(start))),
    }
}

/// Is it JSON (else XML)?
pub fn is_json(body: &[u8]) -> bool {
    let first = body.iter().find(|b| !b.is_ascii_whitespace() && !matches!(b, 0xef | 0xbb | 0xbf));
    matches!(first, Some(b'{' | b'['))
}

/// The error a status of failure means, with what the body says about it.
pub fn failure(status: u16, body: &[u8]) -> Kind {
    let (said, is_hadoops) = message(body);
    let message = if said.is_empty() { String::new() } else { format!(" ({said})") };
    match status {
        401 => Kind::Unauthorized(message),
        403 => Kind::Forbidden(message),
        // The page of a gateway, or of a daemon that has only begun to start, says nothing of what was asked for.
        404 if is_hadoops => Kind::NotFound(message),
        // An AM with job ACLs on throws a bare WebApplicationException at whom it lets see nothing; Hadoop makes that 503.
        503 if said == "WebApplicationException" => {
            Kind::Forbidden(" (the job's ACLs let this user see nothing)".into())
        }
        500..=599 => Kind::Server { status, message },
        _ => Kind::Status { status, message },
    }
}

/// Hadoop's `RemoteException`, else a page's title, else the first words; and whether it is Hadoop that says so.
fn message(body: &[u8]) -> (String, bool) {
    let text = String::from_utf8_lossy(body);
    let text = text.trim();
    if let Ok(Value::Object(map)) = serde_json::from_str::<Value>(text) {
        let exception = map.get("RemoteException");
        return (exception.and_then(remote).unwrap_or_default(), exception.is_some());
    }
    if text.starts_with('<') && is_html(text) {
        return (title(text), false);
    }
    match xml::parse(text) {
        Ok(root) if root.name == "RemoteException" => (words(root.child_text("message").unwrap_or("")), true),
        _ => (words(text), false),
    }
}

/// The message of Hadoop's `RemoteException`.
pub fn remote(exception: &Value) -> Option<String> {
    let text = |key: &str| exception.get(key).and_then(Value::as_str).filter(|t| !t.is_empty());
    text("message").or_else(|| text("exception")).map(words)
}

fn is_html(text: &str) -> bool {
    let start: String = text.chars().take(512).collect::<String>().to_ascii_lowercase();
    start.contains("<!doctype html") || start.contains("<html") || start.contains("<head")
}

fn title(text: &str) -> String {
    let lower = text.to_ascii_lowercase();
    let inside = lower.find("<title>").and_then(|from| Some((from + 7, lower[from..].find("</title>")? + from)));
    inside.and_then(|(from, to)| text.get(from..to)).map(words).unwrap_or_default()
}

/// At most 120 printable characters on one line.
pub fn words(text: &str) -> String {
    let one_line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    one_line.chars().filter(|c| !c.is_control()).take(120).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_page_or_plain_text_with_status_200_is_not_taken_for_an_answer() {
        let label = |body: &str| recognise(body.as_bytes()).map_or_else(|k| k.label(), |()| "ok");
        assert_eq!(label("{}"), "ok");
        assert_eq!(label("\u{feff} <?xml version=\"1.0\"?><apps/>"), "ok");
        assert_eq!(label(""), "empty");
        assert_eq!(label("There is no active RM right now.\n"), "standby");
        assert_eq!(label("hello"), "plain_text");
        let page = "<!DOCTYPE html><html><head><title> Log  in </title></head></html>";
        assert_eq!(recognise(page.as_bytes()).unwrap_err(), Kind::Html("Log in".to_owned()));
    }

    #[test]
    fn a_failure_repeats_what_hadoop_said() {
        let barred = br#"{"RemoteException":{"exception":"WebApplicationException","javaClassName":"javax.ws.rs.WebApplicationException"}}"#;
        assert!(matches!(failure(503, barred), Kind::Forbidden(_)));
        assert!(matches!(failure(503, b"busy"), Kind::Server { .. }));
        let json = br#"{"RemoteException":{"exception":"NotFoundException","message":"job, job_1_1, is not found"}}"#;
        assert!(failure(404, json).to_string().contains("job_1_1, is not found"));
        let xml = b"<RemoteException><exception>E</exception><message>why</message></RemoteException>";
        assert!(failure(500, xml).to_string().contains("(why)"));
        let not_found = |body: &[u8]| failure(404, body).label();
        assert_eq!([&b"<RemoteException/>"[..], json].map(not_found), ["not_found"; 2]);
        let pages = [&b"<html><head><title>404</title></head></html>"[..], b"", b"{}", b"default backend - 404"];
        assert_eq!(pages.map(not_found), ["status"; 4], "whoever stands before Hadoop does not speak for it");
        assert_eq!(failure(401, b"").label(), "unauthorized");
        assert_eq!(failure(418, b"x").label(), "status");
    }

    proptest! {
        #[test]
        fn no_body_makes_the_recogniser_panic(body in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = recognise(&body);
            let _ = failure(500, &body);
        }

        #[test]
        fn no_page_title_makes_it_panic(text in "(<title>|</title>|<html|É|İ|x){0,12}") {
            let _ = failure(500, text.as_bytes());
            let _ = recognise(text.as_bytes());
        }
    }
}
