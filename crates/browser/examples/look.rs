//! Takes a picture of a page: `look PAGE.html OUT.png [WIDTH [HEIGHT [dark]]]`, or prints it: `look PAGE.html OUT.pdf`.

use std::error::Error;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [page, to, rest @ ..] = args.as_slice() else {
        return Err("look PAGE.html OUT.png [WIDTH [HEIGHT [dark]]]".into());
    };
    if to.ends_with(".pdf") {
        return Ok(gradband_browser::print(Path::new(page), Path::new(to))?);
    }
    let size = |i: usize, default: u32| rest.get(i).map_or(Ok(default), |text| text.parse());
    let dark = rest.get(2).is_some_and(|word| word == "dark");
    Ok(gradband_browser::screenshot(Path::new(page), Path::new(to), size(0, 1280)?, size(1, 0)?, dark)?)
}
