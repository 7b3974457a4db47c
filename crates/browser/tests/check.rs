//! The check itself must be able to fail: pages that are broken in one way each.

use gradband_browser::{Checked, Error, check, is_there};

/// A page with one chart whose path, script and head are given.
fn checked(path: &str, script: &str, head: &str) -> Result<Checked, Error> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("page.html");
    let page = format!(
        r#"<!DOCTYPE html><html><head>{head}</head><body style="margin:20px">
<figure id="one"><div class="panel"><svg class="chart" width="300" height="200" viewBox="0 0 300 200">
<clipPath><rect/></clipPath><g class="x"><text class="tick">10</text></g><path class="axes" fill="none" stroke="red" d="M10 10V190H290"/>
<g class="series" data-entry="0"><path class="line" d="{path}"/></g></svg><div class="tip" hidden>1.5</div></div>
<ul class="legend"><li><button data-entry="0">a</button></li></ul></figure><script>{script}</script></body></html>"#
    );
    std::fs::write(&file, page)?;
    check(&file)
}

const LINE: &str = "M20 180L280 20";
/// All that the check asks for, in the least code.
const WORKS: &str = "
const svg = document.querySelector('svg'), tip = document.querySelector('.tip'), line = document.querySelector('.line');
const series = document.querySelector('.series');
svg.onpointermove = () => { tip.hidden = false };
svg.onpointerleave = () => { tip.hidden = true };
document.querySelector('button').onclick = () => { series.style.display = series.style.display ? '' : 'none' };
let down = null;
svg.onpointerdown = (e) => { down = e.clientX };
svg.onpointerup = (e) => { if (Math.abs(e.clientX - down) > 5) line.setAttribute('d', 'M0 0L9 9') };
svg.ondblclick = () => line.setAttribute('d', 'M20 180L280 20');
";

#[test]
fn a_sound_page_passes() {
    if !is_there() {
        return;
    }
    checked(LINE, WORKS, "").unwrap().assert_sound(1);
}

#[test]
fn nothing_works_without_a_script() {
    if !is_there() {
        return;
    }
    let seen = checked(LINE, "", "").unwrap();
    let figure = &seen.figures[0];
    assert!(figure.drawn && !figure.empty);
    assert_eq!((figure.hovers, figure.toggles, figure.zooms), (Some(false), Some(false), Some(false)));
}

#[test]
fn empty_and_broken_paths_are_not_drawn() {
    if !is_there() {
        return;
    }
    for path in ["", "M20 180LNaN 20", "M20 180L20 180"] {
        assert_eq!(checked(path, WORKS, "").unwrap().drawn(), 0, "{path}");
    }
}

#[test]
fn noise_and_requests_are_seen() {
    if !is_there() {
        return;
    }
    let noisy = checked(LINE, "console.log('hello'); throw new Error('lost')", "").unwrap();
    assert!(noisy.messages.iter().any(|text| text.contains("hello")), "{:?}", noisy.messages);
    assert!(noisy.messages.iter().any(|text| text.contains("lost")), "{:?}", noisy.messages);
    let head = r#"<link rel="stylesheet" href="other.css"><link rel="icon" href="data:,">"#;
    let loading = checked(LINE, WORKS, head).unwrap();
    assert!(
        loading.requests.len() == 1 && loading.requests[0].ends_with("other.css"),
        "{:?}",
        loading.requests
    );
}

#[test]
fn wide_pages_are_seen() {
    if !is_there() {
        return;
    }
    let wide = checked(LINE, WORKS, "<style>body { width: 3000px }</style>").unwrap();
    assert!(wide.overflows);
}
