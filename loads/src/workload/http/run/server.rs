//! Knows the server of `http`'s own: hyper, one runtime a thread (decision 0060).
//!
//! Must not know when requests come.

use super::secure::Acceptor;
use super::{begin, bodies, posted};
use crate::engine::exchange::dial::BACKLOG;
use crate::engine::exchange::{Counters, Order, Serve, Shared};
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use std::convert::Infallible;
use std::io;
use std::net::TcpListener;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::runtime::Builder;
use tokio::task::LocalSet;

/// A thread of the server, with its listener.
pub struct Server {
    listener: Arc<TcpListener>,
    site: Site,
    /// What encrypts connections, or why it cannot.
    acceptor: Result<Option<Acceptor>, String>,
}

/// All that there is to ask for.
#[derive(Clone)]
struct Site {
    begins: String,
    bodies: Vec<Bytes>,
    /// What each request has to post; none where it is a GET.
    posted: Option<Bytes>,
}

impl Server {
    /// One that serves the content of a trial.
    pub fn of(order: &Order, listener: &Arc<TcpListener>) -> Self {
        let site = Site {
            begins: begin(order),
            bodies: bodies(order),
            posted: posted(order).map(Bytes::from),
        };
        Self { listener: Arc::clone(listener), site, acceptor: Acceptor::of(order) }
    }
}

impl Site {
    /// Whether this is a request for a page, and the response.
    async fn answer(&self, request: Request<Incoming>) -> (bool, Response<Full<Bytes>>) {
        let (head, body) = request.into_parts();
        let path = head.uri.path();
        let number = path.strip_prefix(&self.begins).and_then(|number| number.parse().ok());
        let page = number.and_then(|number: usize| self.bodies.get(number));
        let (page, status) = match (page, &self.posted) {
            (Some(page), None) if head.method == Method::GET => (page.clone(), StatusCode::OK),
            (Some(page), Some(posted)) if head.method == Method::POST => {
                match body.collect().await.map(|body| body.to_bytes() == posted) {
                    Ok(true) => (page.clone(), StatusCode::OK),
                    _ => (Bytes::new(), StatusCode::BAD_REQUEST),
                }
            }
            _ => (Bytes::new(), StatusCode::NOT_FOUND),
        };
        let mut response = Response::new(Full::new(page));
        *response.status_mut() = status;
        (status == StatusCode::OK, response)
    }
}

impl Serve for Server {
    fn serve(&mut self, shared: &Shared, counters: &Arc<Counters>) -> io::Result<()> {
        rustix::net::listen(&*self.listener, BACKLOG)?;
        let listener = self.listener.try_clone()?;
        listener.set_nonblocking(true)?;
        let runtime = Builder::new_current_thread().enable_io().build()?;
        let local = LocalSet::new();
        let site = Rc::new(self.site.clone());
        let acceptor = self.acceptor.clone().map_err(io::Error::other)?;
        local.block_on(&runtime, async {
            let listener = tokio::net::TcpListener::from_std(listener)?;
            loop {
                match listener.accept().await {
                    Ok((socket, _)) => {
                        socket.set_nodelay(true)?;
                        let (site, counters) = (Rc::clone(&site), Arc::clone(counters));
                        match acceptor.clone() {
                            None => tokio::task::spawn_local(answer_all(socket, site, counters)),
                            Some(acceptor) => tokio::task::spawn_local(async move {
                                // The client counts a handshake that fails.
                                if let Ok(session) = acceptor.accept(socket).await {
                                    answer_all(session, site, counters).await;
                                }
                            }),
                        };
                    }
                    // Somebody hung up.
                    Err(_) if shared.gate.stopped() => return Ok(()),
                    Err(e) if e.kind() == io::ErrorKind::ConnectionAborted => {}
                    Err(e) => return Err(e),
                }
            }
        })
    }
}

/// Answers on a connection until its client ends it.
async fn answer_all<S: AsyncRead + AsyncWrite + Unpin>(
    socket: S,
    site: Rc<Site>,
    counters: Arc<Counters>,
) {
    let answer = |request| async {
        let (counts, response) = site.answer(request).await;
        if counts {
            // One thread writes.
            counters.done.store(counters.done.load(Relaxed) + 1, Relaxed);
        }
        Ok::<_, Infallible>(response)
    };
    // A client that is gone counts that itself.
    let _ = http1::Builder::new().serve_connection(TokioIo::new(socket), service_fn(answer)).await;
}
