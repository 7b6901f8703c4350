//! Knows how much room a text takes in the font that every page carries. Knows no layout.

use super::advances::ADVANCES;
use super::scene::Role;

/// Advance width in em: what the font has, else that of the widest usual face.
fn advance(c: char, bold: bool) -> f64 {
    let row = ADVANCES.binary_search_by_key(&u32::from(c), |row| row.0);
    if let Some((_, regular, semi_bold)) = row.ok().and_then(|at| ADVANCES.get(at)) {
        return f64::from(if bold { *semi_bold } else { *regular }) / 1000.0;
    }
    let wide = match c {
        '→' | '←' => 1.0,
        'ш' | 'щ' | 'ж' | 'ю' | 'ы' | 'ф' | 'м' => 0.86,
        _ if cells(c) == 2 => 1.02,
        _ if cells(c) == 0 => 0.0,
        _ if c.is_lowercase() => 0.64,
        _ => 0.82,
    };
    // Semi-bold cuts of the same faces run 6-8 % wider.
    if bold { 1.08 * wide } else { wide }
}

/// Terminal cells that a character takes: 2 for East Asian wide, 0 for combining, else 1.
pub fn cells(c: char) -> usize {
    match u32::from(c) {
        0x300..=0x36f | 0x200b..=0x200f | 0xfe00..=0xfe0f => 0,
        0x1100..=0x115f
        | 0x2e80..=0xa4cf
        | 0xac00..=0xd7a3
        | 0xf900..=0xfaff
        | 0xfe30..=0xfe6f
        | 0xff00..=0xff60
        | 0xffe0..=0xffe6
        | 0x1f300..=0x1faff
        | 0x20000..=0x3fffd => 2,
        _ => 1,
    }
}

/// The words between which a line may end; a no-break space holds its words together.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let breaks = |c: char| c.is_whitespace() && !matches!(c, '\u{a0}' | '\u{202f}');
    text.split(breaks).filter(|word| !word.is_empty())
}

/// Where a word that fills a line is broken: behind the last joint of its second half, else at its
/// end.
fn joint(word: &str) -> usize {
    let joint = |c: char| matches!(c, '-' | '+' | '/' | '_' | '=' | ',' | ':' | '.');
    let after = word.char_indices().rev().find(|(_, c)| joint(*c)).map(|(i, c)| i + c.len_utf8());
    after.filter(|i| *i > word.len() / 2).unwrap_or(word.len())
}

/// Measures and wraps text.
#[derive(Clone, Copy, Debug)]
pub struct Ruler {
    /// Every width is multiplied by this; a test lays out longer languages with it.
    pub stretch: f64,
}

impl Ruler {
    /// Width of one line in px, on the safe side.
    pub fn width(self, text: &str, role: Role) -> f64 {
        let wide = |c| advance(c, role.bold());
        text.chars().map(wide).sum::<f64>() * role.size() * self.stretch
    }

    /// Breaks a text at spaces so that no line is wider than `limit` px.
    ///
    /// A word that is wider alone is broken anywhere, as is Chinese, which has no spaces.
    pub fn wrap(self, text: &str, role: Role, limit: f64) -> Vec<String> {
        let mut lines = Vec::new();
        let mut line = String::new();
        for word in words(text) {
            let longer = if line.is_empty() { word.to_owned() } else { format!("{line} {word}") };
            if self.width(&longer, role) <= limit {
                line = longer;
                continue;
            }
            if !line.is_empty() {
                lines.push(std::mem::take(&mut line));
            }
            line = self.split(word, role, limit, &mut lines);
        }
        if !line.is_empty() {
            lines.push(line);
        }
        lines
    }

    /// Pushes what fills whole lines and returns the rest.
    fn split(self, word: &str, role: Role, limit: f64, lines: &mut Vec<String>) -> String {
        let mut rest = String::new();
        for c in word.chars() {
            rest.push(c);
            if self.width(&rest, role) > limit && rest.chars().count() > 1 {
                rest.pop();
                let next = rest.split_off(joint(&rest)) + c.encode_utf8(&mut [0; 4]);
                lines.push(std::mem::replace(&mut rest, next));
            }
        }
        rest
    }

    /// The widest word of a text in px: what wrapping can not make narrower.
    pub fn widest_word(self, text: &str, role: Role) -> f64 {
        words(text).map(|w| self.width(w, role)).fold(0.0, f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::super::font::{REGULAR, SEMI_BOLD};
    use super::*;

    /// Advances of a font of the pages, by character, in thousandths of an em.
    fn advances(font: &[u8]) -> Vec<(u32, u16)> {
        let bare = wuff::decompress_woff2(font).unwrap();
        let face = ttf_parser::Face::parse(&bare, 0).unwrap();
        assert_eq!(face.units_per_em(), 1000);
        let mut all = Vec::new();
        for table in face.tables().cmap.unwrap().subtables {
            table.codepoints(|c| {
                let glyph = table.glyph_index(c).unwrap();
                all.push((c, face.glyph_hor_advance(glyph).unwrap()));
            });
        }
        all.sort_unstable();
        all.dedup();
        all
    }

    #[test]
    fn what_is_measured_is_the_font_that_is_shown() {
        assert!(ADVANCES.windows(2).all(|w| w[0].0 < w[1].0));
        for (font, of) in [(REGULAR, 1), (SEMI_BOLD, 2)] {
            let shown = advances(font);
            assert_eq!(shown.len(), ADVANCES.len());
            for ((c, wide), row) in shown.into_iter().zip(ADVANCES) {
                let told = if of == 1 { row.1 } else { row.2 };
                // Arial, the larger in some, has no letter that is so much wider.
                assert_eq!(c, row.0);
                assert!((wide..=wide + 250).contains(&told), "{c:#x}: {told}, not {wide}");
            }
        }
    }

    #[test]
    fn wrapped_lines_keep_every_word_and_the_limit() {
        let ruler = Ruler { stretch: 1.0 };
        let text =
            "The second adapter moves 2.9 times the data below 2 KiB 中文报告没有空格也要换行";
        let lines = ruler.wrap(text, Role::Title, 120.0);
        assert!(lines.iter().all(|l| ruler.width(l, Role::Title) <= 120.0), "{lines:?}");
        let bare = |s: &str| s.replace(' ', "");
        assert_eq!(bare(&lines.concat()), bare(text));
    }

    #[test]
    fn a_word_without_room_is_broken_at_its_joints() {
        let ruler = Ruler { stretch: 1.0 };
        let lines = ruler.wrap("tx-tcp-segmentation+rx-checksum", Role::Tick, 130.0);
        assert_eq!(lines, ["tx-tcp-segmentation+", "rx-checksum"]);
        assert_eq!(joint("abcdefgh-"), 9);
        assert_eq!(joint("a-bcdefgh"), 9);
    }
}
