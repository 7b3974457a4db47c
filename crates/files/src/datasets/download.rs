//! Downloads: into memory, so that Ctrl-C and a lost connection leave nothing behind.

use super::Trouble;
use gradband::{Observer, Progress};
use std::io::Read;
use std::ops::ControlFlow;
use std::time::Duration;

/// How much is downloaded at most, in bytes.
const MAX_BYTES: usize = 64_000_000;
/// What there is to download, if the server does not say.
const USUAL_BYTES: u64 = 11_240_707;
/// To connect, and between two packets.
const PATIENCE: Duration = Duration::from_secs(20);

/// The first of the files that can be had, or why none can.
pub fn download(urls: &[&str], what: &str, observer: &mut dyn Observer) -> Result<Vec<u8>, Trouble> {
    let config = ureq::Agent::config_builder()
        .timeout_resolve(Some(PATIENCE))
        .timeout_connect(Some(PATIENCE))
        .timeout_recv_response(Some(PATIENCE))
        .timeout_per_read(Some(PATIENCE))
        .user_agent(concat!("gradband/", env!("CARGO_PKG_VERSION")))
        .build();
    let agent = ureq::Agent::new_with_config(config);
    let mut failures = Vec::new();
    for url in urls {
        match get(&agent, url, what, observer) {
            Err(Trouble::Unreachable(error)) => failures.push(format!("{url}: {error}")),
            done => return done,
        }
    }
    Err(Trouble::Unreachable(failures.join("; ")))
}

fn get(agent: &ureq::Agent, url: &str, what: &str, observer: &mut dyn Observer) -> Result<Vec<u8>, Trouble> {
    let unreachable = |error: &dyn std::fmt::Display| Trouble::Unreachable(error.to_string());
    let mut response = agent.get(url).call().map_err(|error| unreachable(&error))?;
    let length = response.body().content_length();
    let what = format!("fetching {what}");
    let total = length.unwrap_or(USUAL_BYTES) / 1000;
    let mut reader = response.body_mut().as_reader();
    let (mut bytes, mut chunk) = (Vec::new(), vec![0; 1 << 16]);
    loop {
        let count = reader.read(&mut chunk).map_err(|error| unreachable(&error))?;
        if count == 0 {
            break;
        }
        bytes.extend_from_slice(&chunk[..count]);
        if bytes.len() > MAX_BYTES {
            return Err(unreachable(&format!("is larger than {} MB", MAX_BYTES / 1_000_000)));
        }
        let progress = Progress::new(&what, "kB", bytes.len() as u64 / 1000, total);
        if let ControlFlow::Break(reason) = observer.progress(progress) {
            return Err(Trouble::Stopped(reason));
        }
    }
    match length {
        Some(length) if length != bytes.len() as u64 => {
            Err(unreachable(&format!("ended after {} of {length} bytes", bytes.len())))
        }
        _ => Ok(bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gradband::StopReason;
    use std::io::Write;
    use std::net::TcpListener;

    /// A server on this machine that gives one answer per connection.
    fn serve(answers: Vec<String>) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/data", listener.local_addr().unwrap());
        std::thread::spawn(move || {
            for answer in answers {
                let (mut stream, _) = listener.accept().unwrap();
                let _ = stream.read(&mut [0; 4096]);
                stream.write_all(answer.as_bytes()).unwrap();
            }
        });
        url
    }

    fn answer(status: &str, length: usize, body: &str) -> String {
        format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}")
    }

    #[test]
    fn the_second_address_helps_when_the_first_fails() {
        let url = serve(vec![answer("404 Not Found", 0, ""), answer("200 OK", 5, "hello")]);
        assert_eq!(download(&[&url, &url], "it", &mut ()).unwrap(), b"hello");
    }

    #[test]
    fn what_is_cut_off_or_not_there_is_a_failure_that_names_the_address() {
        let url = serve(vec![answer("200 OK", 500, "hello"), answer("503 Busy", 0, "")]);
        let message =
            download(&[&url, &url, "http://127.0.0.1:1/none"], "it", &mut ()).unwrap_err().to_string();
        assert!(message.contains("503") && message.contains(&url), "{message}");
        assert_eq!(message.matches("; ").count(), 2, "{message}");
    }

    #[test]
    fn the_observer_stops_it_for_good() {
        struct Impatient;
        impl Observer for Impatient {
            fn progress(&mut self, _: Progress) -> ControlFlow<StopReason> {
                ControlFlow::Break(StopReason::Interrupted)
            }
        }
        let url = serve(vec![answer("200 OK", 5, "hello"), answer("200 OK", 5, "hello")]);
        let stopped = download(&[&url, &url], "it", &mut Impatient).unwrap_err();
        assert!(matches!(stopped, Trouble::Stopped(StopReason::Interrupted)), "{stopped}");
    }
}
