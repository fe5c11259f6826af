//! Connections by the address they come from: no address has the places of all others.

use super::Bounds;
use prometheus::IntCounter;
use serde_json::json;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;

/// Refusals that are being told at once, each within [`PATIENCE`]; beyond these a connection is only closed.
const TELLING: usize = 16;
const PATIENCE: Duration = Duration::from_secs(1);

/// How soon one that was refused may come again, milliseconds.
const RETRY_MS: u64 = 10_000;

/// The connections of one listener.
pub struct Peers {
    /// Half of all: of a cluster behind one translated address, or of one machine, there may be many masters.
    most: usize,
    /// Does not count: whoever passes on what comes from everywhere, as a proxy on this machine does.
    spares: fn(IpAddr) -> bool,
    open: Mutex<HashMap<IpAddr, Open>>,
    refused: IntCounter,
    answer: Arc<str>,
    telling: Arc<Semaphore>,
}

/// Those of one address.
#[derive(Default)]
struct Open {
    connections: usize,
    /// That there were too many was logged.
    told: bool,
}

/// One connection's place, given back when it is dropped.
pub struct Place(Option<(Arc<Peers>, IpAddr)>);

impl Drop for Place {
    fn drop(&mut self) {
        if let Some((peers, address)) = &self.0 {
            peers.give_back(*address);
        }
    }
}

impl Peers {
    /// None yet.
    pub fn new(bounds: &Bounds, spares: fn(IpAddr) -> bool) -> Peers {
        let most = bounds.connections.div_ceil(2);
        let message = format!(
            "this address has {most} connections open, as many as one may, half of {}; close some, or ask the operator to raise that setting",
            bounds.key
        );
        let body = json!({"error": "too_many_connections", "message": message, "retry_ms": RETRY_MS}).to_string();
        let head = "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nConnection: close";
        Peers {
            most,
            spares,
            open: Mutex::default(),
            refused: bounds.refused.clone(),
            answer: format!("{head}\r\nContent-Length: {}\r\n\r\n{body}", body.len()).into(),
            telling: Arc::new(Semaphore::new(TELLING)),
        }
    }

    /// A place for a connection from there; `None` where that address has as many as it may.
    pub fn take(self: &Arc<Self>, address: IpAddr) -> Option<Place> {
        let address = address.to_canonical();
        if (self.spares)(address) {
            return Some(Place(None));
        }
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let theirs = open.entry(address).or_default();
        if theirs.connections >= self.most {
            if !std::mem::replace(&mut theirs.told, true) {
                tracing::warn!(%address, connections = self.most, "an address has as many connections open as one may; more are refused");
            }
            return None;
        }
        theirs.connections += 1;
        Some(Place(Some((Arc::clone(self), address))))
    }

    fn give_back(&self, address: IpAddr) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(theirs) = open.get_mut(&address) {
            theirs.connections -= 1;
            if theirs.connections == 0 {
                open.remove(&address);
            }
        }
    }

    /// Tells whoever is at the other end why there is no place, and closes the connection.
    pub fn refuse(&self, mut stream: TcpStream) {
        self.refused.inc();
        let Ok(turn) = Arc::clone(&self.telling).try_acquire_owned() else { return };
        let answer = Arc::clone(&self.answer);
        tokio::spawn(async move {
            let _turn = turn;
            let told = async {
                stream.write_all(answer.as_bytes()).await?;
                stream.shutdown().await?;
                // To close it with a request unread would have the system take the answer back.
                let mut rest = [0; 1_024];
                while stream.read(&mut rest).await? > 0 {}
                std::io::Result::Ok(())
            };
            let _ = tokio::time::timeout(PATIENCE, told).await;
        });
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::bounds;
    use super::*;

    fn peers(connections: usize) -> Arc<Peers> {
        Arc::new(Peers::new(&bounds(connections, Duration::ZERO), |address| address.is_loopback()))
    }

    #[test]
    fn an_address_has_half_of_the_places_at_most_in_whatever_way_it_is_written_and_gets_back_what_it_gives_back() {
        let peers = peers(4);
        let [one, same, other] = ["10.0.0.1", "::ffff:10.0.0.1", "10.0.0.2"].map(|text| text.parse().unwrap());
        let first = peers.take(one);
        let second = peers.take(same);
        assert!(first.is_some() && second.is_some() && peers.take(one).is_none() && peers.take(same).is_none());
        let others = [other, other].map(|address| peers.take(address));
        assert!(others.iter().all(Option::is_some));
        drop(first);
        assert!(peers.take(same).is_some());
        drop((second, others));
        assert!(peers.open.lock().unwrap().is_empty(), "nothing is kept of who has gone");
    }

    #[test]
    fn a_proxy_on_this_machine_has_all_of_them_and_of_one_place_an_address_has_one() {
        let one = peers(1);
        let here = ["127.0.0.1", "::1", "127.0.0.1"].map(|text| one.take(text.parse().unwrap()));
        assert!(here.iter().all(Option::is_some));
        assert!(one.take("10.0.0.1".parse().unwrap()).is_some());
    }
}
