//! Uses every figure of a report as a reader would: looks, hovers, hides a series, zooms in and out.

use crate::pipe::{Browser, Error};
use crate::tab::{Tab, View};
use serde::Deserialize;
use std::path::Path;

/// What became of a report in a browser.
#[derive(Clone, Debug)]
pub struct Checked {
    /// Its figures, in order.
    pub figures: Vec<Seen>,
    /// Everything on the console, and errors that nobody caught.
    pub messages: Vec<String>,
    /// Every address that the page asked for, except itself and what it carries.
    pub requests: Vec<String>,
    /// The page is wider than the window.
    pub overflows: bool,
}

/// What became of a figure; `None` where it has no such thing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Its anchor.
    pub id: String,
    /// Every panel shows something.
    pub drawn: bool,
    /// A panel says that it has no data.
    pub empty: bool,
    /// Over every panel the tooltip shows a number.
    pub hovers: Option<bool>,
    /// The first entry of the legend hides its series and shows them again.
    pub toggles: Option<bool>,
    /// A dragged box changes every chart, and a double click restores it.
    pub zooms: Option<bool>,
}

impl Checked {
    /// How many figures show something in every panel.
    pub fn drawn(&self) -> usize {
        self.figures.iter().filter(|figure| figure.drawn).count()
    }

    /// Panics unless there are so many figures and all of them work.
    pub fn assert_sound(&self, figures: usize) {
        self.assert_sound_but(figures, &[]);
    }

    /// The same, where figures with these ids may have panels that say "no data".
    pub fn assert_sound_but(&self, figures: usize, empty: &[&str]) {
        assert_eq!(self.figures.len(), figures, "figures in the page: {:?}", self.figures);
        for figure in &self.figures {
            let Seen { id, drawn, empty: is_empty, hovers, toggles, zooms } = figure;
            let may_be_empty = empty.contains(&id.as_str());
            assert!(*drawn || may_be_empty, "figure {id} is not drawn");
            assert!(!is_empty || may_be_empty, "figure {id} has no data");
            assert_ne!(*hovers, Some(false), "figure {id} shows no number under the pointer");
            assert_ne!(*toggles, Some(false), "the legend of figure {id} does not hide and show");
            assert_ne!(*zooms, Some(false), "figure {id} does not zoom and reset");
        }
        assert_eq!(self.messages, [""; 0], "the console should be empty");
        assert_eq!(self.requests, [""; 0], "nothing should be loaded");
        assert!(!self.overflows, "the page scrolls sideways");
    }
}

/// Opens a report on a desktop and uses all of it.
pub fn check(page: &Path) -> Result<Checked, Error> {
    let mut browser = Browser::launch()?;
    let mut tab = browser.open(page, View::DESKTOP)?;
    check_tab(&mut tab)
}

/// A panel as the page has it now; places are in the window.
#[derive(Debug, Deserialize)]
struct PanelState {
    drawn: bool,
    empty: bool,
    /// Left, top, width and height of the plot.
    plot: [f64; 4],
    tip: Option<String>,
    /// Everything that zooming changes.
    geometry: String,
    zoomable: bool,
}

#[derive(Debug, Deserialize)]
struct FigureState {
    id: String,
    panels: Vec<PanelState>,
    /// The middle of the first entry of the legend.
    entry: Option<(f64, f64)>,
    /// Its series that are visible.
    visible: usize,
}

const PROBE: &str = include_str!("probe.js");

impl Tab<'_> {
    /// Uses every figure of the page.
    pub fn check(&mut self) -> Result<Checked, Error> {
        check_tab(self)
    }

    /// The state of a figure, with one of its panels in view, or its legend.
    fn figure(&mut self, index: usize, panel: Option<usize>) -> Result<FigureState, Error> {
        let focus = panel.map_or("-1".to_owned(), |panel| panel.to_string());
        self.evaluate(&format!("({PROBE})({index}, {focus})"))
    }

    fn panel(&mut self, figure: usize, index: usize) -> Result<PanelState, Error> {
        let panel = self.figure(figure, Some(index))?.panels.into_iter().nth(index);
        panel.ok_or_else(|| Error::Answer(format!("figure {figure} has lost panel {index}")))
    }
}

fn check_tab(tab: &mut Tab<'_>) -> Result<Checked, Error> {
    let count: usize = tab.evaluate("document.querySelectorAll('figure').length")?;
    let figures = (0..count).map(|i| check_figure(tab, i)).collect::<Result<_, _>>()?;
    let overflows = tab.evaluate("document.scrollingElement.scrollWidth > innerWidth")?;
    Ok(Checked { figures, messages: tab.messages(), requests: tab.requests(), overflows })
}

fn check_figure(tab: &mut Tab<'_>, index: usize) -> Result<Seen, Error> {
    let before = tab.figure(index, None)?;
    let mut seen = Seen {
        id: before.id.clone(),
        drawn: !before.panels.is_empty() && before.panels.iter().all(|panel| panel.drawn),
        empty: before.panels.iter().any(|panel| panel.empty),
        hovers: None,
        toggles: None,
        zooms: None,
    };
    if let Some((x, y)) = before.entry {
        tab.click(x, y, 1)?;
        let hidden = tab.figure(index, None)?.visible;
        tab.click(x, y, 1)?;
        let back = tab.figure(index, None)?.visible;
        seen.toggles = Some(before.visible > 0 && hidden == 0 && back == before.visible);
    }
    for (i, panel) in before.panels.iter().enumerate().filter(|(_, panel)| !panel.empty) {
        seen.hovers = Some(seen.hovers.unwrap_or(true) & hovers(tab, index, i)?);
        if panel.zoomable {
            seen.zooms = Some(seen.zooms.unwrap_or(true) & zooms(tab, index, i)?);
        }
    }
    Ok(seen)
}

/// A place in a plot, as shares of its width and height.
fn inside(panel: &PanelState, across: f64, down: f64) -> (f64, f64) {
    let [x, y, width, height] = panel.plot;
    (x + across * width, y + down * height)
}

fn hovers(tab: &mut Tab<'_>, figure: usize, index: usize) -> Result<bool, Error> {
    let (x, y) = inside(&tab.panel(figure, index)?, 0.45, 0.45);
    tab.hover(x, y)?;
    let tip = tab.panel(figure, index)?.tip;
    tab.hover(1.0, 1.0)?;
    Ok(tip.is_some_and(|tip| tip.contains(|c: char| c.is_ascii_digit()) || tip.contains("no value")))
}

fn zooms(tab: &mut Tab<'_>, figure: usize, index: usize) -> Result<bool, Error> {
    let before = tab.panel(figure, index)?;
    tab.drag(inside(&before, 0.25, 0.25), inside(&before, 0.75, 0.75))?;
    let zoomed = tab.panel(figure, index)?;
    let (x, y) = inside(&before, 0.5, 0.5);
    tab.click(x, y, 2)?;
    let after = tab.panel(figure, index)?;
    Ok(zoomed.geometry != before.geometry && after.geometry == before.geometry)
}
