//! Plays a random legal action in any game: Rust's standard library alone, built with plain `rustc`.
//!
//! Answering with an index needs no JSON parser, only the values of a few top-level keys and the number of
//! elements of "legal": `value` and `count` find them by walking the text, aware of strings and nesting.

use std::io::{self, BufRead, Write};

/// The index just behind the string that opens at `at`.
fn after_string(text: &[u8], mut at: usize) -> usize {
    at += 1;
    while at < text.len() && text[at] != b'"' {
        at += if text[at] == b'\\' { 2 } else { 1 };
    }
    (at + 1).min(text.len())
}

fn skip_space(text: &[u8], mut at: usize) -> usize {
    while at < text.len() && text[at].is_ascii_whitespace() {
        at += 1;
    }
    at
}

/// The text from the value of a top-level key on; empty if there is no such key.
fn value<'a>(text: &'a [u8], key: &str) -> &'a [u8] {
    let (mut at, mut depth) = (0, 0);
    while at < text.len() {
        match text[at] {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth -= 1,
            b'"' => {
                let end = after_string(text, at);
                let colon = skip_space(text, end);
                if depth == 1 && text.get(colon) == Some(&b':') && &text[at + 1..end - 1] == key.as_bytes() {
                    return &text[skip_space(text, colon + 1)..];
                }
                at = end;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    &[]
}

/// How many elements the array has with which `text` begins.
fn count(text: &[u8]) -> u64 {
    let (mut at, mut depth, mut commas, mut empty) = (0, 0, 0, true);
    while at < text.len() {
        let byte = text[at];
        if byte == b']' || byte == b'}' {
            depth -= 1;
            if depth == 0 {
                break;
            }
        } else if depth >= 1 && !byte.is_ascii_whitespace() {
            empty = false;
            if depth == 1 && byte == b',' {
                commas += 1;
            }
        }
        if byte == b'[' || byte == b'{' {
            depth += 1;
        }
        at = if byte == b'"' { after_string(text, at) } else { at + 1 };
    }
    if empty { 0 } else { commas + 1 }
}

/// A plain string or a number up to its end: types, ids and seeds hold no escapes.
fn word(value: &[u8]) -> &str {
    let value = value.strip_prefix(b"\"").unwrap_or(value);
    let end = value.iter().position(|byte| b"\",} \t".contains(byte)).unwrap_or(value.len());
    std::str::from_utf8(&value[..end]).unwrap_or("")
}

fn main() -> io::Result<()> {
    let (mut input, mut output) = (io::stdin().lock(), io::stdout().lock());
    let mut line = Vec::new();
    let mut random: u64 = 1; // the state of an xorshift64 generator: never zero
    while input.read_until(b'\n', &mut line)? > 0 {
        match word(value(&line, "type")) {
            "hello" => writeln!(output, r#"{{"type":"hello","protocol":1,"wants":["legal"],"reusable":true}}"#)?,
            "start" => {
                // The referee's seed makes a match reproducible; its first 16 hex digits are 64 bits.
                let seed = word(value(&line, "seed"));
                random = u64::from_str_radix(seed.get(..16).unwrap_or(seed), 16).unwrap_or(1).max(1);
                writeln!(output, r#"{{"type":"ready"}}"#)?;
            }
            "act" => {
                random ^= random << 13;
                random ^= random >> 7;
                random ^= random << 17;
                let action = random % count(value(&line, "legal")).max(1);
                writeln!(output, r#"{{"type":"act","id":{},"action":{}}}"#, word(value(&line, "id")), action)?;
            }
            "fault" => io::stderr().write_all(&line)?,
            "quit" => break,
            _ => {}
        }
        output.flush()?;
        line.clear();
    }
    Ok(())
}
