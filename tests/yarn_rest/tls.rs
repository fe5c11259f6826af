//! A ResourceManager behind HTTPS.

use crate::fake::{fixture, params};
use drover::yarn::http::HttpParams;
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use std::path::PathBuf;
use std::sync::Arc;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;

/// A server with a certificate for `name`, signed by an authority made for it; its address as 127.0.0.1, and the authority's certificate.
async fn https(name: &str) -> (String, String) {
    let mut authority = CertificateParams::new(Vec::new()).unwrap();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    authority.distinguished_name.push(DnType::CommonName, "an authority of this test");
    let authority_key = KeyPair::generate().unwrap();
    let pem = authority.self_signed(&authority_key).unwrap().pem();
    let key = KeyPair::generate().unwrap();
    let issuer = Issuer::new(authority, authority_key);
    let certificate = CertificateParams::new(vec![name.to_owned()]).unwrap().signed_by(&key, &issuer).unwrap();
    let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    let server = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], key)
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(server));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("https://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                // A client that does not trust it breaks off here.
                let Ok(mut stream) = acceptor.accept(stream).await else { return };
                let mut request = [0; 4096];
                let read = stream.read(&mut request).await.unwrap_or(0);
                let body = if String::from_utf8_lossy(&request[..read]).contains("/cluster/info") {
                    r#"{"clusterInfo":{"startedOn":5,"haState":"ACTIVE","hadoopVersion":"3.4.3"}}"#
                } else {
                    r#"{"clusterMetrics":{"totalMB":8192,"activeNodes":4}}"#
                };
                let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length:";
                let _ = stream.write_all(format!("{head} {}\r\n\r\n{body}", body.len()).as_bytes()).await;
                let _ = stream.shutdown().await;
            });
        }
    });
    (address, pem)
}

fn trusting(ca_file: Option<PathBuf>) -> HttpParams {
    HttpParams { ca_file, ..params() }
}

#[tokio::test]
async fn a_server_whose_authority_is_named_is_trusted_and_no_other() {
    let (address, pem) = https("127.0.0.1").await;
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("ca.pem");
    std::fs::write(&file, pem).unwrap();
    let named = fixture(std::slice::from_ref(&address), None, trusting(Some(file)));
    assert_eq!(named.clients.rm.metrics(None).await.unwrap().what.active_nodes, 4);

    let stranger = fixture(&[address], None, trusting(None));
    let shown = stranger.clients.rm.present().await.remove(0).info.err().unwrap();
    assert_eq!(shown.label(), "certificate", "{shown}");
    assert!(shown.to_string().contains("rest.ca_file"), "{shown}");
}

#[tokio::test]
async fn a_certificate_for_another_name_is_not_trusted_though_its_authority_is() {
    let (address, pem) = https("rm.example.com").await;
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("ca.pem");
    std::fs::write(&file, pem).unwrap();
    let fixture = fixture(&[address], None, trusting(Some(file)));
    let shown = fixture.clients.rm.present().await.remove(0).info.err().unwrap();
    assert_eq!(shown.label(), "certificate", "{shown}");
}

#[tokio::test]
async fn a_service_whose_certificate_is_not_trusted_is_not_taken_for_one_that_is_not_there() {
    let (address, pem) = https("127.0.0.1").await;
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), pem).unwrap();
    let asked = async |trusted: Option<&std::path::Path>| {
        let mut command = tokio::process::Command::new(env!("CARGO_BIN_EXE_drover"));
        command.args(["nodes", "--service", &address]).env_clear();
        command.envs(trusted.map(|file| ("SSL_CERT_FILE", file)));
        let output = command.output().await.unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, said) = asked(None).await;
    assert!(code == Some(3) && said.contains("certificate") && said.contains("SSL_CERT_FILE"), "{code:?} {said}");
    assert!(!said.contains("no service answers"), "{said}");
    // What answers here is no Drover, and that is then what is told.
    let (_, said) = asked(Some(file.path())).await;
    assert!(said.contains("does not answer as a Drover service"), "{said}");
}
