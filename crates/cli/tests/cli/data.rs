//! Data sets: the list, and the cache of what is not built in. Nothing here needs a network.

use super::*;

fn files_in(dir: &Path) -> usize {
    std::fs::read_dir(dir).map_or(0, Iterator::count)
}

#[test]
fn the_list_says_where_each_set_is() {
    let list = json(&["data", "list"]);
    let list = list.as_array().unwrap();
    assert_eq!(list.len(), 11);
    assert_eq!(keys(&list[0]), ["classes", "examples", "features", "name", "source", "summary", "where"]);
    for item in list {
        let away = item["name"] == "covertype";
        assert_eq!(item["where"], if away { "to be fetched" } else { "built in" }, "{item}");
        assert!(item["source"].as_str().unwrap().contains("https://doi.org/10.24432/"));
    }
    let text = text(&["data", "list"]);
    assert!(
        text.contains("581,012") && text.contains("breast-cancer") && text.contains("to be fetched"),
        "{text}"
    );
}

#[test]
fn a_damaged_copy_in_the_cache_is_noticed() {
    let dir = tempfile::tempdir().unwrap();
    let cache = dir.path().to_str().unwrap();
    write(dir.path(), "covertype.csv.gz", "x");
    let place = || json(&["data", "list", "--cache", cache])[3]["where"].clone();
    assert_eq!(place(), "damaged in the cache");
    write(dir.path(), "covertype.csv.gz.sha256", "0123  covertype.csv.gz\n");
    assert_eq!(place(), "damaged in the cache");
    // Whoever changes both files gets what they asked for; the file itself was checked when it was fetched.
    let sum = "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881";
    write(dir.path(), "covertype.csv.gz.sha256", format!("{sum}  covertype.csv.gz\n"));
    assert_eq!(place(), "in the cache");
    assert!(text(&["data", "fetch", "covertype", "--cache", cache]).contains("covertype is in the cache"));
}

#[test]
fn what_is_built_in_need_not_be_fetched() {
    let text = text(&["data", "fetch", "iris", "wine"]);
    assert_eq!(text, "iris is built in: nothing to fetch\nwine is built in: nothing to fetch\n");
    assert_eq!(json(&["data", "fetch", "iris"])[0]["where"], "built in");
    refused_saying(&["data", "fetch", "iris", "--from", "x"], &["--from", "built in"]);
    refused_saying(&["data", "fetch", "covertyp"], &["NAME", "did you mean 'covertype'?"]);
}

#[test]
fn only_the_right_file_gets_into_the_cache() {
    let dir = tempfile::tempdir().unwrap();
    let cache = dir.path().join("deep/cache");
    let fetch = |from: &str| ["data", "fetch", "covertype", "--from", from, "--cache"].map(String::from);
    let refused_file = |from: &str, parts: &[&str]| {
        let args = fetch(from);
        let args: Vec<&str> = args.iter().map(String::as_str).chain([cache.to_str().unwrap()]).collect();
        refused_saying(&args, parts);
        assert_eq!(files_in(&cache), 0);
    };
    let header: String = (1..=54).map(|feature| format!("f{feature},")).collect();
    let row = "1,".repeat(54);
    let tampered = write(dir.path(), "tampered.csv", format!("{header}label\n{row}0\n{row}6\n"));
    let expected = "0a9371cef7c964b5475d6053cc3e0894a5aa6f65ad1ed3ecb01c45aa96217945";
    refused_file(&tampered, &["tampered.csv: is not covertype", "found 2 examples", expected]);
    let text = write(dir.path(), "page.html", "<html>");
    refused_file(&text, &["page.html: is not covertype", "line 1"]);
    let gzip = write(dir.path(), "cut.gz", b"\x1f\x8b\x08\x00\x00");
    refused_file(&gzip, &["cut.gz: is not covertype"]);
    refused_file(dir.path().join("nowhere").to_str().unwrap(), &["nowhere: no such file"]);
    refused_file(dir.path().to_str().unwrap(), &["is a directory"]);
    refused_saying(&["data", "fetch", "covertype", "--from", &tampered], &["--cache", "found none"]);
}

#[test]
#[ignore = "needs UCI's covtype.data: make check-covertype FROM=FILE"]
fn the_real_file_is_taken_and_kept() {
    let from = std::env::var("FROM").expect("FROM: the file");
    let dir = tempfile::tempdir().unwrap();
    let cache = dir.path().to_str().unwrap();
    let fetched = json(&["data", "fetch", "covertype", "--from", &from, "--cache", cache]);
    assert_eq!(fetched[0]["where"], "in the cache");
    assert_eq!(files_in(dir.path()), 2);
}
