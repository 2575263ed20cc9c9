//! The API over HTTP/2, by prior knowledge, many requests on one connection.

use crate::support::http::Served;
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http2::SendRequest;
use hyper::{Request, Version};
use hyper_util::rt::{TokioExecutor, TokioIo};
use serde_json::{Value, json};
use tokio::task::JoinSet;

type Client = SendRequest<Full<Bytes>>;

async fn connect(server: &Served) -> Client {
    let stream = tokio::net::TcpStream::connect(&server.address).await.unwrap();
    let (client, connection) =
        hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(stream))
            .await
            .unwrap();
    tokio::spawn(connection);
    client
}

async fn send(client: &mut Client, request: Request<Full<Bytes>>) -> (u16, Value) {
    client.ready().await.unwrap();
    let response = client.send_request(request).await.unwrap();
    assert_eq!(response.version(), Version::HTTP_2);
    let status = response.status().as_u16();
    let id = response.headers()["x-request-id"].to_str().unwrap().to_owned();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    if status >= 400 {
        assert_eq!(body["request_id"], id.as_str());
    }
    (status, body)
}

fn post(server: &Served, path: &str, body: &Value) -> Request<Full<Bytes>> {
    Request::post(format!("{}{path}", server.url))
        .header("content-type", "application/json")
        .body(Full::new(Bytes::from(body.to_string())))
        .unwrap()
}

fn get(server: &Served, path: &str) -> Request<Full<Bytes>> {
    Request::get(format!("{}{path}", server.url))
        .body(Full::default())
        .unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_http2_connection_carries_many_requests_at_once() {
    let (_folder, server) = Served::fresh();
    let mut client = connect(&server).await;
    let (status, sprite) = send(
        &mut client,
        post(
            &server,
            "/v1/sprites",
            &crate::support::documents::sprite("SOL-FORGE"),
        ),
    )
    .await;
    assert_eq!(status, 201, "{sprite}");

    let path = format!("/v1/sprites/{}", sprite["id"].as_str().unwrap());
    let mut requests = JoinSet::new();
    for number in 0..200 {
        let mut client = client.clone();
        // Every fourth is an error: its envelope belongs to it and to no other stream.
        let request = if number % 4 == 0 {
            post(&server, "/v1/sprites", &json!({ "name": number }))
        } else {
            get(&server, &path)
        };
        requests.spawn(async move { (number, send(&mut client, request).await) });
    }
    while let Some(answered) = requests.join_next().await {
        let (number, (status, body)) = answered.unwrap();
        if number % 4 == 0 {
            assert_eq!(
                (status, body["code"].as_str()),
                (400, Some("VALIDATION_ERROR")),
                "{body}"
            );
        } else {
            assert_eq!((status, &body["id"]), (200, &sprite["id"]), "{body}");
        }
    }

    // The limits of HTTP/1.1 are those of HTTP/2.
    let mut long = get(&server, "/v1/sprites");
    long.headers_mut()
        .insert("x-long", "x".repeat(20 << 10).parse().unwrap());
    let (status, body) = send(&mut client, long).await;
    assert_eq!(
        (status, body["code"].as_str()),
        (431, Some("HEADERS_TOO_LARGE")),
        "{body}"
    );
    let huge = Request::post(format!("{}/v1/sprites", server.url))
        .header("content-type", "application/json")
        .body(Full::new(Bytes::from(vec![b' '; 3 << 20])))
        .unwrap();
    let (status, body) = send(&mut client, huge).await;
    assert_eq!(
        (status, body["code"].as_str()),
        (413, Some("PAYLOAD_TOO_LARGE")),
        "{body}"
    );
    assert_eq!(
        send(&mut client, get(&server, "/health")).await.0,
        200,
        "the connection goes on"
    );
}
