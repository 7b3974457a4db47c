//! The colours, once: custom properties in the page (light, dark, print), plain values in files.

use crate::model::Palette;
use std::fmt::Write;

/// Colours of series; further ones start again, with other lines.
pub const COLOURS: usize = 8;
/// Colours of cells, from the lowest to the highest.
pub(crate) const STEPS: usize = 21;

/// Name, light, dark. Series are Okabe and Ito's colours, darkened or lightened to stand out from the paper.
const PLAIN: [(&str, &str, &str); 19] = [
    ("paper", "#ffffff", "#15181c"),
    ("raised", "#f6f7f9", "#1d2126"),
    ("ink", "#1c2127", "#e8eaed"),
    ("soft", "#59626d", "#a3acb7"),
    ("rule", "#d9dde2", "#3a414a"),
    ("grid", "#eceef1", "#272c33"),
    ("accent", "#005a9c", "#7cc0f2"),
    ("good", "#006b4f", "#4fd1a5"),
    ("bad", "#b03a00", "#ff9e6d"),
    ("none", "#e3e5e8", "#2c3138"),
    ("s0", "#0072b2", "#5cb8f0"),
    ("s1", "#d55e00", "#ff8a45"),
    ("s2", "#009e73", "#2fcf9f"),
    ("s3", "#b8479a", "#f08fd0"),
    ("s4", "#b58900", "#f0c53d"),
    ("s5", "#3d4450", "#d5dae0"),
    ("s6", "#2a9fd6", "#a4d8ff"),
    ("s7", "#7a4ea3", "#bb9af2"),
    ("shade", "#00000014", "#00000066"),
];

/// Stops of the cell palettes, light and dark: the low end is close to the paper, or zero is.
const SEQUENTIAL: ([u32; 3], [u32; 3]) = ([0xf1f5f9, 0x62a3cc, 0x08305c], [0x20262d, 0x3579ab, 0xd3ecff]);
const DIVERGING: ([u32; 3], [u32; 3]) = ([0xa63603, 0xf7f7f7, 0x08519c], [0xff9a66, 0x23282e, 0x6dbdf7]);

/// `--name:value;` of all colours.
pub(crate) fn properties(dark: bool) -> String {
    let mut out = String::new();
    for (name, value) in values(dark) {
        let _ = write!(out, "--{name}:{value};");
    }
    out
}

/// The style of drawings with all colours filled in: files know no custom properties.
pub(crate) fn figure_style() -> String {
    values(false).into_iter().fold(FIGURE_CSS.to_owned() + &step_rules(), |css, (name, value)| {
        css.replace(&format!("var(--{name})"), &value)
    })
}

/// The style of drawings, with custom properties.
pub(crate) const FIGURE_CSS: &str = include_str!("assets/figure.css");

/// The classes of cells (`q…`, `d…`) and of the numbers in them (`tq…`, `td…`).
pub(crate) fn step_rules() -> String {
    let mut out = String::new();
    for palette in ['q', 'd'] {
        for i in 0..STEPS {
            let _ = write!(
                out,
                ".{palette}{i}{{color:var(--{palette}{i})}}.t{palette}{i}{{fill:var(--t{palette}{i})}}"
            );
        }
    }
    out
}

/// The letter of a palette in class names.
pub(crate) fn letter(palette: Palette) -> char {
    match palette {
        Palette::Sequential => 'q',
        Palette::Diverging => 'd',
    }
}

fn values(dark: bool) -> Vec<(String, String)> {
    let mut out: Vec<(String, String)> = PLAIN
        .iter()
        .map(|&(name, day, night)| (name.to_owned(), if dark { night } else { day }.to_owned()))
        .collect();
    for (letter, (day, night)) in [('q', SEQUENTIAL), ('d', DIVERGING)] {
        let stops = if dark { night } else { day };
        for i in 0..STEPS {
            let colour = between(&stops, i as f64 / (STEPS - 1) as f64);
            let text = if luminance(colour) > 0.179 { "#000000" } else { "#ffffff" };
            out.push((
                format!("{letter}{i}"),
                format!("#{:02x}{:02x}{:02x}", colour[0], colour[1], colour[2]),
            ));
            out.push((format!("t{letter}{i}"), text.to_owned()));
        }
    }
    out
}

fn between(stops: &[u32; 3], t: f64) -> [u8; 3] {
    let (from, to, t) =
        if t < 0.5 { (stops[0], stops[1], 2.0 * t) } else { (stops[1], stops[2], 2.0 * t - 1.0) };
    [16, 8, 0].map(|shift| {
        let (a, b) = (f64::from(from >> shift & 255), f64::from(to >> shift & 255));
        (a + t * (b - a)).round() as u8
    })
}

/// Relative luminance as in WCAG 2.
fn luminance(colour: [u8; 3]) -> f64 {
    let [r, g, b] = colour.map(|c| {
        let c = f64::from(c) / 255.0;
        if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
    });
    0.2126 * r + 0.7152 * g + 0.0722 * b
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contrast(a: &str, b: &str) -> f64 {
        let parse = |text: &str| {
            let n = u32::from_str_radix(&text[1..7], 16).unwrap();
            luminance([16, 8, 0].map(|shift| (n >> shift & 255) as u8))
        };
        let (a, b) = (parse(a), parse(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn text_and_series_stand_out() {
        for dark in [false, true] {
            let all = values(dark);
            let colour = |name: &str| all.iter().find(|(n, _)| n == name).unwrap().1.clone();
            for paper in ["paper", "raised"] {
                for text in ["ink", "soft", "accent", "good", "bad"] {
                    assert!(
                        contrast(&colour(text), &colour(paper)) >= 4.5,
                        "{text} on {paper}, dark: {dark}"
                    );
                }
            }
            for i in 0..COLOURS {
                assert!(contrast(&colour(&format!("s{i}")), &colour("paper")) >= 2.9, "s{i}, dark: {dark}");
            }
            for cell in ["q", "d"].iter().flat_map(|p| (0..STEPS).map(move |i| format!("{p}{i}"))) {
                assert!(
                    contrast(&colour(&cell), &colour(&format!("t{cell}"))) >= 4.3,
                    "{cell}, dark: {dark}"
                );
            }
        }
    }

    #[test]
    fn files_have_no_custom_properties() {
        assert!(!figure_style().contains("var("));
    }
}
