//! Gittins tables on disk.

use super::*;

/// A run with a cache, and what it said on stderr.
fn gittins(dir: &Path, horizon: &str) -> (Value, String) {
    let output =
        gradband(&["gittins", "--horizon", horizon, "--json"]).env("GRADBAND_CACHE", dir).output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    (timeless(serde_json::from_slice(&output.stdout).unwrap()), stderr)
}

fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<_> = std::fs::read_dir(dir)
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_table_is_kept_and_serves_shorter_horizons() {
    let dir = tempfile::tempdir().unwrap();
    let cache = dir.path().join("deep/cache");
    let (first, _) = gittins(&cache, "60");
    let path = cache.join("gittins-60.bin");
    let written = std::fs::metadata(&path).unwrap().modified().unwrap();
    let (second, stderr) = gittins(&cache, "60");
    assert_eq!((first, stderr.as_str()), (second, ""));
    let (shorter, _) = gittins(&cache, "45");
    assert_eq!(shorter["entries"], 45 * 46 * 47 / 6);
    assert_eq!(std::fs::metadata(&path).unwrap().modified().unwrap(), written);
    assert_eq!(names(&cache), ["gittins-60.bin"]);
    assert_eq!(timeless(json(&["gittins", "--horizon", "45"])), shorter, "the same without a cache");
}

#[test]
fn a_damaged_table_is_noticed_and_replaced() {
    let dir = tempfile::tempdir().unwrap();
    let (sound, _) = gittins(dir.path(), "50");
    let path = dir.path().join("gittins-50.bin");
    let bytes = std::fs::read(&path).unwrap();
    let flipped = |at: usize| {
        bytes.iter().enumerate().map(|(i, b)| if i == at { b ^ 1 } else { *b }).collect::<Vec<_>>()
    };
    for damaged in [
        bytes[..bytes.len() - 1].to_vec(),
        bytes[..10].to_vec(),
        Vec::new(),
        b"not a table at all, but long enough for a header".to_vec(),
        flipped(0),
        flipped(8),
        flipped(12),
        flipped(17),
        flipped(4_000),
    ] {
        std::fs::write(&path, &damaged).unwrap();
        let (again, stderr) = gittins(dir.path(), "50");
        assert_eq!(again, sound);
        assert!(stderr.contains("gittins-50.bin") && stderr.contains("computed anew"), "{stderr}");
        assert!(std::fs::read(&path).unwrap() == bytes, "it is rewritten");
    }
    assert_eq!(names(dir.path()), ["gittins-50.bin"]);
}

#[test]
fn a_cache_can_be_moved_switched_off_or_unwritable() {
    let dir = tempfile::tempdir().unwrap();
    let elsewhere = dir.path().join("elsewhere");
    let flag = ["gittins", "--horizon", "10", "--cache", elsewhere.to_str().unwrap()];
    assert_eq!(run(&flag).status.code(), Some(0));
    assert_eq!(names(&elsewhere), ["gittins-10.bin"]);
    let with = |args: &[&str], env: &Path| {
        gradband(args).env("GRADBAND_CACHE", env).current_dir(dir.path()).output().unwrap()
    };
    let off = with(&["gittins", "--horizon", "10", "--cache", "none"], &dir.path().join("unused"));
    assert_eq!(off.status.code(), Some(0));
    assert_eq!(names(dir.path()), ["elsewhere"]);
    let file = write(dir.path(), "file", "x");
    let output = with(&["gittins", "--horizon", "10"], &Path::new(&file).join("below"));
    assert_eq!(output.status.code(), Some(0));
    assert!(String::from_utf8_lossy(&output.stderr).contains("cannot keep the Gittins table"));
}
