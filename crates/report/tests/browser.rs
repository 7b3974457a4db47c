//! The sample page in a real browser: drawn, explored, narrow, dark, by keyboard, and with no script.

#[path = "../examples/sample/page.rs"]
mod page;

use gradband_browser::{Browser, Error, Tab, View, is_there};
use page::{EMPTY, FIGURES, MANY, NASTY, sample};
use std::path::PathBuf;
use tempfile::TempDir;

fn written() -> Result<(TempDir, PathBuf), Error> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("a report & more.html");
    std::fs::write(&file, sample().html())?;
    Ok((folder, file))
}

/// Opens the sample and hands it to a test.
fn with_tab(view: View, test: impl FnOnce(&mut Tab<'_>) -> Result<(), Error>) -> Result<(), Error> {
    let (_folder, file) = written()?;
    let mut browser = Browser::launch()?;
    let mut tab = browser.open(&file, view)?;
    test(&mut tab)?;
    assert_eq!(tab.messages(), [""; 0], "the console should be empty");
    assert_eq!(tab.requests(), [""; 0], "nothing should be loaded");
    Ok(())
}

#[test]
fn every_figure_works() {
    if !is_there() {
        return;
    }
    let (_folder, file) = written().unwrap();
    let checked = gradband_browser::check(&file).unwrap();
    checked.assert_sound_but(FIGURES, &[EMPTY]);
    assert_eq!(checked.drawn(), FIGURES - 1);
    let count =
        |has: fn(&gradband_browser::Seen) -> Option<bool>| checked.figures.iter().filter_map(has).count();
    assert_eq!(count(|figure| figure.hovers), FIGURES - 1);
    assert_eq!(count(|figure| figure.toggles), 8);
    assert_eq!(count(|figure| figure.zooms), 7);
}

#[test]
fn nothing_scrolls_sideways_on_a_phone() {
    if !is_there() {
        return;
    }
    with_tab(View::PHONE, |tab| {
        let checked = tab.check()?;
        checked.assert_sound_but(FIGURES, &[EMPTY]);
        // Text is drawn at its own size, not shrunk with the drawing.
        let size: f64 = tab.evaluate(
            "(() => { const s = document.querySelector('#regret svg'); return s.getBoundingClientRect().width / s.viewBox.baseVal.width })()",
        )?;
        assert!((size - 1.0).abs() < 0.02, "{size}");
        Ok(())
    })
    .unwrap();
}

/// Every cell of every table is in the window, with nothing to scroll, and numbers are in one line.
#[test]
fn tables_are_whole() {
    if !is_there() {
        return;
    }
    for view in [View::PHONE, View::DESKTOP] {
        with_tab(view, |tab| {
            let outside = "[...document.querySelectorAll('.table td, .table tbody th')].filter(c => { const b = c.getBoundingClientRect(); return b.width > 0 && (b.left < 0 || b.right > innerWidth) }).map(c => c.textContent)";
            assert_eq!(tab.evaluate::<Vec<String>>(outside)?, [""; 0]);
            let scrolled = "[...document.querySelectorAll('.table')].filter(t => t.scrollWidth > t.clientWidth + 1 || t.scrollHeight > t.clientHeight + 1).length";
            assert_eq!(tab.evaluate::<usize>(scrolled)?, 0);
            let broken = "[...document.querySelectorAll('.table :is(td.number, .whole)')].filter(c => { const r = document.createRange(); r.selectNodeContents(c); return r.getBoundingClientRect().height > 34 }).map(c => c.textContent)";
            assert_eq!(tab.evaluate::<Vec<String>>(broken)?, [""; 0]);
            Ok(())
        })
        .unwrap();
    }
}

/// Names beside lines are inside the drawing, apart from each other, and go with their lines.
#[test]
fn lines_have_their_names_beside_them() {
    if !is_there() {
        return;
    }
    for view in [View::PHONE, View::DESKTOP] {
        with_tab(view, |tab| {
            let boxes = "[...document.querySelectorAll('#many .named text')].map(t => { const b = t.getBoundingClientRect(); return [b.left, b.right, b.top, b.bottom] })";
            let mut boxes: Vec<[f64; 4]> = tab.evaluate(boxes)?;
            let (left, right): (f64, f64) = tab.evaluate(
                "(() => { const b = document.querySelector('#many .panel').getBoundingClientRect(); return [b.left, b.right] })()",
            )?;
            assert_eq!(boxes.len(), 12);
            assert!(boxes.iter().all(|b| b[0] >= left && b[1] <= right + 1.0), "{boxes:?}");
            boxes.sort_by(|a, b| a[2].total_cmp(&b[2]));
            assert!(boxes.windows(2).all(|pair| pair[1][2] - pair[0][2] > 12.0), "{boxes:?}");
            let visible = "[...document.querySelectorAll('#many .named')].filter(g => getComputedStyle(g).display !== 'none').length";
            tab.evaluate::<()>("document.querySelector('#many .legend button').click() ?? null")?;
            assert_eq!(tab.evaluate::<usize>(visible)?, 11);
            Ok(())
        })
        .unwrap();
    }
}

#[test]
fn dark_readers_get_dark_colours() {
    if !is_there() {
        return;
    }
    let paper = "getComputedStyle(document.body).backgroundColor";
    let line = "getComputedStyle(document.querySelector('#regret .line')).stroke";
    let mut colours = Vec::new();
    for dark in [false, true] {
        with_tab(View { dark, ..View::DESKTOP }, |tab| {
            colours.push((tab.evaluate::<String>(paper)?, tab.evaluate::<String>(line)?));
            tab.check()?.assert_sound_but(FIGURES, &[EMPTY]);
            Ok(())
        })
        .unwrap();
    }
    assert_eq!(colours[0], ("rgb(255, 255, 255)".into(), "rgb(0, 114, 178)".into()));
    assert_eq!(colours[1], ("rgb(21, 24, 28)".into(), "rgb(92, 184, 240)".into()));
}

#[test]
fn with_no_script_everything_is_there() {
    if !is_there() {
        return;
    }
    let (_folder, file) = written().unwrap();
    let mut browser = Browser::launch().unwrap();
    let mut tab = browser.open(&file, View { scripts: false, ..View::PHONE }).unwrap();
    let drawn = "[...document.querySelectorAll('.panel svg')].filter(s => s.querySelector('.series path:is(.line, .columns):not([d=\"\"]), .marks:not([d=\"\"]), .cells path')).length";
    assert_eq!(tab.evaluate::<usize>(drawn).unwrap(), 15, "all panels but the two empty ones");
    assert_eq!(tab.evaluate::<usize>("document.querySelectorAll('td').length").unwrap(), 16);
    assert!(!tab.evaluate::<bool>("document.scrollingElement.scrollWidth > innerWidth").unwrap());
    assert!(!tab.evaluate::<bool>("document.documentElement.classList.contains('live')").unwrap());
    assert_eq!(tab.messages(), [""; 0]);
}

#[test]
fn keys_move_zoom_and_leave() {
    if !is_there() {
        return;
    }
    with_tab(View::DESKTOP, |tab| {
        let tip = "document.querySelector('#regret .tip:not([hidden])')?.innerText ?? ''";
        let ticks = "[...document.querySelectorAll('#regret .tick')].map(t => t.textContent).join()";
        let home: String = tab.evaluate(ticks)?;
        tab.evaluate::<()>("document.querySelector('#regret svg').focus() ?? null")?;
        tab.key("ArrowRight")?;
        assert!(tab.evaluate::<String>(tip)?.starts_with("round: 0"));
        tab.key("ArrowRight")?;
        let second: String = tab.evaluate(tip)?;
        assert!(second.starts_with("round: 4") && second.contains('±'), "{second}");
        // The level has no point here, but a value.
        assert!(second.contains("Bayes optimum") && second.contains("2.476"), "{second}");
        tab.key("End")?;
        assert!(tab.evaluate::<String>(tip)?.starts_with("round: 200"));
        tab.key("Home")?;
        assert!(tab.evaluate::<String>(tip)?.starts_with("round: 0"));
        tab.key("Escape")?;
        assert_eq!(tab.evaluate::<String>(tip)?, "");
        tab.key("+")?;
        tab.key("+")?;
        assert_ne!(tab.evaluate::<String>(ticks)?, home);
        tab.key("0")?;
        assert_eq!(tab.evaluate::<String>(ticks)?, home);
        // A matrix is read cell by cell.
        let cell = "document.querySelector('#weights .tip:not([hidden])')?.innerText ?? ''";
        tab.evaluate::<()>("document.querySelector('#weights svg').focus() ?? null")?;
        tab.key("ArrowRight")?;
        tab.key("ArrowDown")?;
        assert!(tab.evaluate::<String>(cell)?.starts_with("feature 2, feature 1"));
        Ok(())
    })
    .unwrap();
}

/// Zoomed in, every axis with numbers still has some, all different, in order.
#[test]
fn zoomed_axes_have_numbers() {
    if !is_there() {
        return;
    }
    with_tab(View::DESKTOP, |tab| {
        let charts = "[...document.querySelectorAll('svg.chart[tabindex]')]";
        let count: usize = tab.evaluate(&format!("{charts}.length"))?;
        assert!(count > 8);
        for i in 0..count {
            tab.evaluate::<()>(&format!("{charts}[{i}].focus() ?? null"))?;
            for _ in 0..4 {
                tab.key("+")?;
                let labels = |axis: &str| {
                    format!("[...{charts}[{i}].querySelectorAll('g.{axis} .tick')].map(t => t.textContent)")
                };
                let place = |axis: &str, which: &str| {
                    format!(
                        "[...{charts}[{i}].querySelectorAll('g.{axis} .tick')].map(t => Number(t.getAttribute('{which}')))"
                    )
                };
                for (axis, which, sign) in [("x", "x", 1.0), ("y", "y", -1.0)] {
                    let labels: Vec<String> = tab.evaluate(&labels(axis))?;
                    let places: Vec<f64> = tab.evaluate(&place(axis, which))?;
                    if labels.iter().all(|label| label.contains(|c: char| c.is_ascii_lowercase())) {
                        continue; // Names are not zoomed.
                    }
                    assert!(labels.len() >= 2, "chart {i}: {axis} has {labels:?}");
                    assert!(labels.windows(2).all(|pair| pair[0] != pair[1]), "chart {i}: {labels:?}");
                    assert!(places.windows(2).all(|pair| sign * (pair[1] - pair[0]) > 13.0), "{places:?}");
                }
            }
        }
        Ok(())
    })
    .unwrap();
}

#[test]
fn fingers_find_values() {
    if !is_there() {
        return;
    }
    with_tab(View::PHONE, |tab| {
        let middle = "(() => { const s = document.querySelector('#regret svg'); s.scrollIntoView({ block: 'center', behavior: 'instant' }); const b = s.getBoundingClientRect(); return [b.left + b.width / 2, b.top + b.height / 2] })()";
        let (x, y): (f64, f64) = tab.evaluate(middle)?;
        tab.tap(x, y)?;
        let tip: String =
            tab.evaluate("document.querySelector('#regret .tip:not([hidden])')?.innerText ?? ''")?;
        assert!(tip.starts_with("round: "), "{tip}");
        Ok(())
    })
    .unwrap();
}

#[test]
fn one_entry_can_be_alone() {
    if !is_there() {
        return;
    }
    with_tab(View::DESKTOP, |tab| {
        let press = |how: &str| {
            format!("document.querySelector('#arms .legend button').dispatchEvent({how}) && null")
        };
        let visible = "[...document.querySelectorAll('#arms g.series')].filter(g => getComputedStyle(g).display !== 'none').length";
        assert_eq!(tab.evaluate::<usize>(visible)?, 15);
        let shift = press("new MouseEvent('click', { shiftKey: true, bubbles: true })");
        tab.evaluate::<()>(&shift)?;
        assert_eq!(tab.evaluate::<usize>(visible)?, 3, "one in each of three panels");
        tab.evaluate::<()>(&shift)?;
        assert_eq!(tab.evaluate::<usize>(visible)?, 15);
        Ok(())
    })
    .unwrap();
}

/// Rust and the script must draw the same: one model. In these windows panels are as wide as Rust draws them.
#[test]
fn the_script_draws_what_rust_drew() {
    if !is_there() {
        return;
    }
    let source = serde_json::to_string(&sample().html()).unwrap();
    let single = (View::DESKTOP, &["regret", "policies", "names"][..]);
    let several = (View { width: 520, ..View::DESKTOP }, &["arms", "categories", "scales-both", MANY][..]);
    for (view, ids) in [single, several] {
        with_tab(view, |tab| {
            for id in ids {
                let parts = format!(
                    "[...page.querySelectorAll('#{id} .chart :is(path, .tick)')].filter(n => !n.closest('.overlay')).map(n => n.getAttribute('d') ?? n.textContent)"
                );
                let live: Vec<String> = tab.evaluate(&format!("(page => {parts})(document)"))?;
                let parsed = format!("new DOMParser().parseFromString({source}, 'text/html')");
                let drawn: Vec<String> = tab.evaluate(&format!("(page => {parts})({parsed})"))?;
                assert!(live.len() > 10);
                assert_eq!(live.len(), drawn.len(), "{id}");
                for (live, drawn) in live.iter().zip(&drawn) {
                    assert_alike(live, drawn);
                }
            }
            Ok(())
        })
        .unwrap();
    }
}

/// Equal up to the last digit of coordinates: the script has six digits of each number.
fn assert_alike(a: &str, b: &str) {
    let numbers = |text: &str| -> Vec<f64> {
        text.split(|c: char| !c.is_ascii_digit() && c != '.' && c != '-')
            .filter_map(|n| n.parse().ok())
            .collect()
    };
    let words = |text: &str| text.replace(|c: char| c.is_ascii_digit() || c == '.' || c == '-', "");
    assert_eq!(words(a), words(b));
    for (x, y) in numbers(a).iter().zip(numbers(b)) {
        assert!((x - y).abs() < 0.11, "{a}\n{b}");
    }
}

#[test]
fn downloads_are_whole() {
    if !is_there() {
        return;
    }
    with_tab(View { dark: true, ..View::DESKTOP }, |tab| {
        tab.evaluate::<()>("(() => { const make = URL.createObjectURL; URL.createObjectURL = (blob) => { window.saved = blob; return make(blob) }; return null })()")?;
        let mut saved = |id: &str, kind: usize| -> Result<String, Error> {
            tab.evaluate(&format!(
                "document.querySelectorAll('#{id} .tools button')[{kind}].click() ?? window.saved.text()"
            ))
        };
        let figures = sample();
        let figure =
            figures.sections.iter().flat_map(|section| &section.blocks).find_map(|block| match block {
                gradband_report::Block::Figure(figure) if figure.id == "weights" => Some(figure.clone()),
                _ => None,
            });
        // Too large to be in the page: the script writes it.
        let csv = saved("weights", 0)?;
        assert_eq!(csv.lines().count(), figure.unwrap().csv().lines().count());
        assert!(csv.starts_with("panel,row,column,value\nW,feature 1,feature 1,"), "{}", &csv[..80]);
        for id in ["names", "weights", "policies"] {
            let svg = saved(id, 1)?;
            assert!(!svg.contains("var(") && svg.contains("#15181c"), "dark colours, filled in");
            roxmltree::Document::parse(&svg).unwrap();
            assert!(gradband_report::png(&svg, 1.0).unwrap().len() > 5000);
        }
        Ok(())
    })
    .unwrap();
}

#[test]
fn names_stay_text() {
    if !is_there() {
        return;
    }
    with_tab(View::DESKTOP, |tab| {
        let names: Vec<String> =
            tab.evaluate("[...document.querySelectorAll('#names .legend span')].map(s => s.textContent)")?;
        assert_eq!(names, NASTY);
        assert_eq!(
            tab.evaluate::<usize>("document.querySelectorAll('main b, main script:not([type])').length")?,
            0
        );
        Ok(())
    })
    .unwrap();
}

#[test]
fn paper_is_white() {
    if !is_there() {
        return;
    }
    with_tab(View { dark: true, ..View::DESKTOP }, |tab| {
        assert!(tab.pdf()?.starts_with(b"%PDF"));
        Ok(())
    })
    .unwrap();
}
