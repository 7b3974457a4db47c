//! Figures as files: well-formed SVG, PNG of the right size with a font of our own, a page that loads nothing.

#[path = "../examples/sample/page.rs"]
mod page;

use gradband_report::{Axis, Block, Chart, Figure, Matrix, Point, Series, png};
use page::{FIGURES, NASTY, sample};

fn figures() -> Vec<Figure> {
    let blocks = sample().sections.into_iter().flat_map(|section| section.blocks);
    let figures: Vec<Figure> = blocks
        .filter_map(|block| match block {
            Block::Figure(figure) => Some(figure),
            Block::Table(_) => None,
        })
        .collect();
    assert_eq!(figures.len(), FIGURES);
    figures
}

#[test]
fn svg_is_well_formed() {
    for figure in figures() {
        let svg = figure.svg();
        let document =
            roxmltree::Document::parse(&svg).unwrap_or_else(|error| panic!("{}: {error}", figure.id));
        assert_eq!(document.root_element().tag_name().name(), "svg");
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{}", figure.id);
        assert!(document.descendants().all(|node| node.tag_name().name() != "script"));
    }
}

#[test]
fn names_are_in_the_drawing_as_they_are() {
    let figure = figures().into_iter().find(|figure| figure.id == "names").unwrap();
    let svg = figure.svg();
    let document = roxmltree::Document::parse(&svg).unwrap();
    let texts: Vec<&str> = document.descendants().filter_map(|node| node.text()).collect();
    for name in NASTY {
        assert!(texts.contains(&name), "{name}");
    }
}

#[test]
fn png_has_the_size_of_the_drawing() {
    for figure in figures() {
        let svg = figure.svg();
        let document = roxmltree::Document::parse(&svg).unwrap();
        let side = |name: &str| document.root_element().attribute(name).unwrap().parse::<f32>().unwrap();
        let bytes = png(&svg, 2.0).unwrap();
        assert!(bytes.starts_with(b"\x89PNG\r\n\x1a\n"));
        let read = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
        assert_eq!(
            (read(16), read(20)),
            ((2.0 * side("width")).round() as u32, (2.0 * side("height")).round() as u32)
        );
    }
    assert!(png("no drawing", 1.0).is_err());
    assert!(png(&figures()[0].svg(), f32::NAN).is_err());
}

/// A picture with this label.
fn labelled(label: &str) -> Result<Vec<u8>, gradband_report::Error> {
    let chart = Chart {
        title: String::new(),
        x: Axis::linear(label),
        y: Axis::linear(""),
        series: vec![Series::line("", vec![Point::new(0.0, 0.0), Point::new(1.0, 1.0)])],
    };
    png(&Figure { panels: vec![chart.into()], ..Figure::default() }.svg(), 1.0)
}

#[test]
fn pictures_have_all_characters() {
    // A font that lacks a character draws nothing, or a box as for one of private use.
    let (missing, nothing) = (labelled("\u{e000}").unwrap(), labelled(" ").unwrap());
    for c in "±εγ−×′…αλσθμπ≤≥≈√Δ∇∂∑∞≠⁰¹²³⁴⁵⁶⁷⁸⁹⁻–—é".chars()
    {
        let drawn = labelled(&c.to_string()).unwrap();
        assert!(drawn != missing && drawn != nothing, "{c}");
    }
}

/// Numbers of every size and sign, on every scale: what cannot be drawn is left out.
#[test]
fn any_number_can_be_drawn() {
    let extremes =
        [0.0, 1.0, -1e308, f64::MAX, f64::MIN_POSITIVE, 5e-324, 1e100, -1e-100, f64::NAN, f64::INFINITY];
    for (x, y) in extremes.iter().flat_map(|&x| extremes.map(|y| (x, y))) {
        for axis in [Axis::linear(""), Axis::log(""), Axis::symlog("", 20.0), Axis::symlog("", y)] {
            let points = vec![Point::new(0.0, 1.0), Point::with_error(x, y, y), Point::new(y, x)];
            let chart = Chart {
                title: String::new(),
                x: axis.clone().within(x, y),
                y: axis,
                series: vec![Series::line("", points.clone()), Series::marks("", points)],
            };
            let matrix = Matrix { values: vec![vec![x, y], vec![y]], ..Matrix::default() };
            let figure = Figure { panels: vec![chart.into(), matrix.into()], ..Figure::default() };
            let svg = figure.svg();
            let drawing = &svg[svg.find("</style>").unwrap()..];
            assert!(!drawing.contains("NaN") && !drawing.contains("inf"), "{x} {y}: {drawing}");
            assert!(svg.len() < 100_000, "{x} {y}");
        }
    }
}

#[test]
fn the_page_loads_nothing() {
    let html = sample().html();
    let own = html.replace(r#"xmlns="http://www.w3.org/2000/svg""#, "");
    assert!(!own.contains("http://") && !own.contains("https://"));
    assert!(!own.contains("src=") && !own.contains("@import") && !own.contains("url(h"));
    assert_eq!(html.matches("<h1").count(), 1);
    assert_eq!(html.matches("<script>").count(), 1);
    assert!(html.contains(r#"<html lang="en">"#) && html.contains("Content-Security-Policy"));
    assert!(html.len() < 500_000, "{}", html.len());
}

#[test]
fn ids_are_unique() {
    let html = sample().html();
    let mut ids: Vec<&str> = html.split(" id=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), count);
}
