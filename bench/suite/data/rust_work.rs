//! A program for the benchmark: generates a document, parses it, counts its words and sorts them.
extern crate rust_engine;

use rust_engine::{count_words, merge_sort, Reader};

struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }

    fn word(&mut self, text: &mut String) {
        let start = self.below(40);
        for at in 0..2 + start % 5 {
            text.push((b'a' + ((start * 7 + at * 3) % 26) as u8) as char);
        }
    }

    fn value(&mut self, depth: u64, text: &mut String) {
        match self.below(if depth > 5 { 5 } else { 8 }) {
            0 => text.push_str("null"),
            1 => text.push_str(if self.below(2) == 0 { "true" } else { "false" }),
            2 | 3 => *text += &format!("{}.{}", self.below(1000), self.below(100)),
            4 => {
                text.push('"');
                for _ in 0..1 + self.below(8) {
                    self.word(text);
                    text.push_str(if self.below(9) == 0 { "\\n" } else { " " });
                }
                text.push('"');
            }
            5 => {
                text.push('{');
                for number in 0..self.below(6) {
                    *text += &format!("{}\"k{number}\": ", if number > 0 { ", " } else { "" });
                    self.value(depth + 1, text);
                }
                text.push('}');
            }
            _ => {
                text.push('[');
                for number in 0..self.below(7) {
                    text.push_str(if number > 0 { ", " } else { "" });
                    self.value(depth + 1, text);
                }
                text.push(']');
            }
        }
    }
}

fn main() {
    let rounds: u64 = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(2000);
    let mut random = Random(1);
    let (mut sum, mut faults, mut words) = (0.0, 0, Vec::new());
    for round in 0..rounds {
        let mut text = String::from("[");
        for _ in 0..12 {
            random.value(0, &mut text);
            text.push(',');
        }
        text.push_str(if round % 10 == 0 { "1, }" } else { "1]" });
        match Reader::read(&text) {
            Ok(value) => {
                sum += value.sum();
                let mut texts = Vec::new();
                value.texts(&mut texts);
                words.extend(count_words(&texts));
            }
            Err(fault) => faults += fault.to_string().len(),
        }
    }
    merge_sort(&mut words, &|a, b| (b.1, &a.0) < (a.1, &b.0));
    let shown: Vec<String> = words.iter().take(5).map(|(word, count)| format!("{word}={count}")).collect();
    println!("{sum:.2} {faults} {} {}", words.len(), shown.join(" "));
}
