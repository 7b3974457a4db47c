//! The page: readable with no script at all, explorable with the one that it carries.

use crate::model::{Block, Figure, Page, Panel, Section};
use crate::text::{attribute, escape, script_json};
use crate::{embed, figure, legend, theme};
use std::fmt::Write;

/// Nothing is loaded from anywhere.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data: blob:";
/// Longer data are put into the page by the script, when somebody looks.
const INLINE_CSV: usize = 16_000;

impl Page {
    /// One self-contained HTML file.
    pub fn html(&self) -> String {
        let title = escape(&self.title);
        let (day, night) = (theme::properties(false), theme::properties(true));
        let (style, steps) = (theme::FIGURE_CSS, theme::step_rules());
        let mut out = format!(
            r##"<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<title>{title}</title>
<style>:root{{color-scheme:light dark;{day}}}
@media screen and (prefers-color-scheme:dark){{:root{{{night}}}}}
svg text{{font-family:{fonts}}}</style>
<style id="figure-style">{style}{steps}</style>
<style>{page}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<div class="layout">
"##,
            fonts = figure::FONTS,
            page = include_str!("assets/page.css"),
        );
        out.push_str(&self.contents());
        let _ = write!(out, "<main id=\"main\">\n<header><h1>{title}</h1>\n");
        out.push_str(&paragraphs(&self.lead, "lead"));
        out.push_str("</header>\n");
        for section in &self.sections {
            out.push_str(&section_html(section));
        }
        let _ = write!(out, "</main>\n</div>\n<footer>{}</footer>\n", escape(&self.footer));
        let script = concat!(
            include_str!("assets/scale.js"),
            include_str!("assets/draw.js"),
            include_str!("assets/look.js"),
            include_str!("assets/export.js"),
            include_str!("assets/page.js")
        );
        let _ = write!(out, "<script>(() => {{\n{script}}})();</script>\n</body>\n</html>\n");
        out
    }

    fn contents(&self) -> String {
        if self.sections.len() < 2 {
            return String::new();
        }
        let mut out = String::from("<nav class=\"contents\" aria-label=\"Contents\"><p>Contents</p><ol>\n");
        for section in &self.sections {
            let (id, title) = (attribute(&section.id), escape(&section.title));
            let _ = writeln!(out, r##"<li><a href="#{id}">{title}</a></li>"##);
        }
        out + "</ol></nav>\n"
    }
}

fn paragraphs(texts: &[String], class: &str) -> String {
    texts.iter().map(|text| format!("<p class=\"{class}\">{}</p>\n", escape(text))).collect()
}

fn section_html(section: &Section) -> String {
    let (id, title) = (attribute(&section.id), escape(&section.title));
    let mut out = format!(
        r##"<section id="{id}" aria-labelledby="{id}-title"><h2 id="{id}-title">{title} <a class="anchor" href="#{id}" aria-label="Link to {title}">#</a></h2>
"##
    );
    out.push_str(&paragraphs(&section.text, "text"));
    for block in &section.blocks {
        match block {
            Block::Figure(figure) => out.push_str(&figure_html(figure)),
            Block::Table(table) => out.push_str(&table.html()),
        }
    }
    if section.command.is_some() || section.spec.is_some() {
        out.push_str("<details class=\"made\"><summary>How this was made</summary>\n");
        for (text, class) in [(&section.command, "command"), (&section.spec, "spec")] {
            if let Some(text) = text {
                let _ =
                    writeln!(out, r#"<pre class="{class}" tabindex="0"><code>{}</code></pre>"#, escape(text));
            }
        }
        out.push_str("</details>\n");
    }
    out + "</section>\n"
}

fn figure_html(figure: &Figure) -> String {
    let id = attribute(&figure.id);
    let entries = legend::entries(figure);
    let count = figure.panels.len();
    let mut out = format!(r#"<figure id="{id}" data-title="{}">"#, escape(&figure.title));
    if !figure.title.is_empty() {
        let _ = write!(out, "<h3>{}</h3>", escape(&figure.title));
    }
    let columns = match count {
        1 => " single",
        3 | 6 | 9 if !figure.panels.iter().any(|panel| figure::has_long_labels(panel, count)) => " thirds",
        _ => "",
    };
    let _ = write!(out, r#"<div class="panels{columns}">"#);
    for (i, panel) in figure.panels.iter().enumerate() {
        let drawn = figure::draw(panel, count, &entries, &format!("{id}-{i}-clip"));
        let (kind, name) = describe(panel, figure);
        let title = match panel.title() {
            "" => String::new(),
            title => format!(r#"<p class="panel-title">{}</p>"#, escape(title)),
        };
        let (w, h) = (crate::number::px(drawn.width), crate::number::px(drawn.height));
        let _ = write!(
            out,
            r#"<div class="panel">{title}<svg class="{kind}" viewBox="0 0 {w} {h}" style="max-width:{w}px" role="img" aria-label="{name}" tabindex="0">{}</svg></div>"#,
            drawn.body
        );
    }
    out.push_str("</div>\n");
    if entries.iter().any(|entry| !entry.name.is_empty()) {
        out.push_str("<ul class=\"legend\" aria-label=\"Series\">");
        for (i, entry) in entries.iter().enumerate().filter(|(_, entry)| !entry.name.is_empty()) {
            let (swatch, colour, width) = (entry.swatch(0.0, 6.0), entry.colour, legend::SWATCH);
            let _ = write!(
                out,
                r#"<li><button type="button" aria-pressed="true" data-entry="{i}"><svg class="swatch c{colour}" viewBox="0 0 {width} 12" aria-hidden="true">{swatch}</svg><span>{}</span></button></li>"#,
                escape(&entry.name)
            );
        }
        out.push_str("</ul>\n");
    }
    if !figure.caption.is_empty() {
        let _ = writeln!(out, "<figcaption>{}</figcaption>", escape(&figure.caption));
    }
    let csv = figure.csv();
    let (csv, later) =
        if csv.len() <= INLINE_CSV { (escape(&csv), "") } else { (String::new(), " data-later") };
    let _ = write!(
        out,
        "<details class=\"data\"><summary>Data (CSV)</summary><pre tabindex=\"0\"{later}>{csv}</pre></details>\n<script type=\"application/json\">{}</script></figure>\n",
        script_json(&embed::json(figure, &entries))
    );
    out
}

/// The class of a panel, and what it is for those who do not see it.
fn describe(panel: &Panel, figure: &Figure) -> (&'static str, String) {
    let title = if panel.title().is_empty() { &figure.title } else { panel.title() };
    match panel {
        Panel::Chart(chart) => {
            let names: Vec<&str> = chart.series.iter().map(|series| series.name.as_str()).collect();
            let text = format!(
                "Chart: {title}. {} over {}. Series: {}.",
                chart.y.label,
                chart.x.label,
                names.join(", ")
            );
            ("chart", escape(&text))
        }
        Panel::Matrix(matrix) => {
            let (rows, columns) =
                (matrix.values.len(), matrix.values.iter().map(Vec::len).max().unwrap_or(0));
            ("matrix", escape(&format!("Matrix: {title}. {rows} rows, {columns} columns.")))
        }
    }
}
