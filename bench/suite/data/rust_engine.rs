//! A library for the benchmark: parses JSON, counts words in a hash table, sorts records.
use std::collections::HashMap;
use std::fmt;
use std::hash::{BuildHasherDefault, Hasher};

#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    List(Vec<Value>),
    Object(Vec<(String, Value)>),
}

#[derive(Debug, PartialEq)]
pub enum Fault {
    End,
    Unexpected(usize, u8),
    Number(usize),
    Deep(usize),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::End => write!(f, "the text ends too early"),
            Fault::Unexpected(at, byte) => write!(f, "{at}: unexpected {byte}"),
            Fault::Number(at) => write!(f, "{at}: not a number"),
            Fault::Deep(at) => write!(f, "{at}: nested too deeply"),
        }
    }
}

pub struct Reader<'a> {
    text: &'a [u8],
    at: usize,
    depth: usize,
}

impl<'a> Reader<'a> {
    pub fn read(text: &'a str) -> Result<Value, Fault> {
        let mut reader = Reader { text: text.as_bytes(), at: 0, depth: 0 };
        let value = reader.value()?;
        reader.blanks();
        match reader.text.get(reader.at) {
            None => Ok(value),
            Some(&byte) => Err(Fault::Unexpected(reader.at, byte)),
        }
    }

    fn blanks(&mut self) {
        while let Some(b' ' | b'\n' | b'\t' | b'\r') = self.text.get(self.at) {
            self.at += 1;
        }
    }

    fn peek(&self) -> Result<u8, Fault> {
        self.text.get(self.at).copied().ok_or(Fault::End)
    }

    fn expect(&mut self, wanted: &[u8]) -> Result<(), Fault> {
        for &byte in wanted {
            let found = self.peek()?;
            if found != byte {
                return Err(Fault::Unexpected(self.at, found));
            }
            self.at += 1;
        }
        Ok(())
    }

    fn value(&mut self) -> Result<Value, Fault> {
        self.blanks();
        match self.peek()? {
            b'n' => self.expect(b"null").map(|()| Value::Null),
            b't' => self.expect(b"true").map(|()| Value::Bool(true)),
            b'f' => self.expect(b"false").map(|()| Value::Bool(false)),
            b'"' => self.string().map(Value::Text),
            b'[' => self.nested(|reader| reader.list()),
            b'{' => self.nested(|reader| reader.object()),
            b'-' | b'0'..=b'9' => self.number(),
            byte => Err(Fault::Unexpected(self.at, byte)),
        }
    }

    fn nested(&mut self, read: impl Fn(&mut Self) -> Result<Value, Fault>) -> Result<Value, Fault> {
        if self.depth == 64 {
            return Err(Fault::Deep(self.at));
        }
        self.depth += 1;
        self.at += 1;
        let value = read(self);
        self.depth -= 1;
        value
    }

    fn list(&mut self) -> Result<Value, Fault> {
        let mut items = Vec::new();
        self.blanks();
        if self.peek()? == b']' {
            self.at += 1;
            return Ok(Value::List(items));
        }
        loop {
            items.push(self.value()?);
            self.blanks();
            match self.peek()? {
                b',' => self.at += 1,
                b']' => {
                    self.at += 1;
                    return Ok(Value::List(items));
                }
                byte => return Err(Fault::Unexpected(self.at, byte)),
            }
        }
    }

    fn object(&mut self) -> Result<Value, Fault> {
        let mut members = Vec::new();
        self.blanks();
        if self.peek()? == b'}' {
            self.at += 1;
            return Ok(Value::Object(members));
        }
        loop {
            self.blanks();
            let key = self.string()?;
            self.blanks();
            self.expect(b":")?;
            members.push((key, self.value()?));
            self.blanks();
            match self.peek()? {
                b',' => self.at += 1,
                b'}' => {
                    self.at += 1;
                    return Ok(Value::Object(members));
                }
                byte => return Err(Fault::Unexpected(self.at, byte)),
            }
        }
    }

    fn string(&mut self) -> Result<String, Fault> {
        self.expect(b"\"")?;
        let mut bytes = Vec::new();
        loop {
            let byte = self.peek()?;
            self.at += 1;
            match byte {
                b'"' => return String::from_utf8(bytes).map_err(|_| Fault::Unexpected(self.at, byte)),
                b'\\' => {
                    let escaped = self.peek()?;
                    self.at += 1;
                    bytes.push(match escaped {
                        b'n' => b'\n',
                        b't' => b'\t',
                        b'"' | b'\\' | b'/' => escaped,
                        _ => return Err(Fault::Unexpected(self.at, escaped)),
                    });
                }
                _ => bytes.push(byte),
            }
        }
    }

    fn number(&mut self) -> Result<Value, Fault> {
        let start = self.at;
        while let Some(b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9') = self.text.get(self.at) {
            self.at += 1;
        }
        let text = std::str::from_utf8(&self.text[start..self.at]).map_err(|_| Fault::Number(start))?;
        text.parse().map(Value::Number).map_err(|_| Fault::Number(start))
    }
}

impl Value {
    pub fn texts<'a>(&'a self, found: &mut Vec<&'a str>) {
        match self {
            Value::Text(text) => found.push(text),
            Value::List(items) => items.iter().for_each(|item| item.texts(found)),
            Value::Object(members) => members.iter().for_each(|(_, value)| value.texts(found)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    pub fn sum(&self) -> f64 {
        match self {
            Value::Number(number) => *number,
            Value::List(items) => items.iter().map(Value::sum).sum(),
            Value::Object(members) => members.iter().map(|(_, value)| value.sum()).sum(),
            Value::Bool(true) => 1.0,
            Value::Null | Value::Bool(false) | Value::Text(_) => 0.0,
        }
    }
}

#[derive(Default)]
pub struct Fnv(u64);

impl Hasher for Fnv {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

pub type Counts = HashMap<String, usize, BuildHasherDefault<Fnv>>;

pub fn count_words(texts: &[&str]) -> Counts {
    let mut counts = Counts::default();
    for text in texts {
        for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
            match counts.get_mut(word) {
                Some(count) => *count += 1,
                None => {
                    counts.insert(word.to_lowercase(), 1);
                }
            }
        }
    }
    counts
}

pub fn merge_sort<T: Clone>(items: &mut [T], before: &dyn Fn(&T, &T) -> bool) {
    if items.len() < 12 {
        for end in 1..items.len() {
            let mut at = end;
            while at > 0 && before(&items[at], &items[at - 1]) {
                items.swap(at, at - 1);
                at -= 1;
            }
        }
        return;
    }
    let middle = items.len() / 2;
    merge_sort(&mut items[..middle], before);
    merge_sort(&mut items[middle..], before);
    let left = items[..middle].to_vec();
    let (mut from_left, mut from_right) = (0, middle);
    for at in 0..items.len() {
        let take_right = from_left == left.len()
            || (from_right < items.len() && before(&items[from_right], &left[from_left]));
        if take_right {
            items[at] = items[from_right].clone();
            from_right += 1;
        } else {
            items[at] = left[from_left].clone();
            from_left += 1;
        }
        if from_left == left.len() {
            break;
        }
    }
}
