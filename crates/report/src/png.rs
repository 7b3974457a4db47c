//! SVG to pixels, with a font of our own: the same picture on a machine that has none.

use resvg::{tiny_skia, usvg};
use std::sync::{Arc, LazyLock};

/// Why there is no picture.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It is not an SVG file.
    #[error("not an SVG drawing: {0}")]
    Svg(String),
    /// The scale is no positive number, or the picture would be enormous.
    #[error("cannot draw {width} × {height} pixels")]
    Size {
        /// The width in pixels.
        width: f32,
        /// The height in pixels.
        height: f32,
    },
    /// The pixels cannot be written as PNG.
    #[error("cannot write PNG: {0}")]
    Encode(String),
}

/// Noto Sans (Open Font License), whatever family a drawing asks for, and DejaVu Sans (Bitstream Vera licence) for the
/// mathematical characters that it lacks.
static FONTS: LazyLock<Arc<usvg::fontdb::Database>> = LazyLock::new(|| {
    let mut fonts = usvg::fontdb::Database::new();
    for bytes in [notosans::REGULAR_TTF, notosans::BOLD_TTF, dejavu::sans::regular()] {
        fonts.load_font_data(bytes.to_vec());
    }
    fonts.set_sans_serif_family("Noto Sans");
    Arc::new(fonts)
});

/// Draws an SVG file, `scale` pixels to the unit.
pub fn png(svg: &str, scale: f32) -> Result<Vec<u8>, Error> {
    let options = usvg::Options {
        fontdb: FONTS.clone(),
        font_family: "Noto Sans".to_owned(),
        ..usvg::Options::default()
    };
    let tree = usvg::Tree::from_str(svg, &options).map_err(|error| Error::Svg(error.to_string()))?;
    let (width, height) = (tree.size().width() * scale, tree.size().height() * scale);
    let sound = |side: f32| (1.0..=20_000.0).contains(&side);
    let pixels = (sound(width) && sound(height))
        .then(|| tiny_skia::Pixmap::new(width.round() as u32, height.round() as u32))
        .flatten();
    let mut pixels = pixels.ok_or(Error::Size { width, height })?;
    resvg::render(&tree, tiny_skia::Transform::from_scale(scale, scale), &mut pixels.as_mut());
    pixels.encode_png().map_err(|error| Error::Encode(error.to_string()))
}
