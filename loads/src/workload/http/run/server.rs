//! Knows the server of `http`'s own: hyper, one runtime a thread (decision 0060).
//!
//! Must not know when requests come.

use super::secure::Acceptor;
use super::{RESPONSE, path, spoilt};
use crate::engine::exchange::dial::BACKLOG;
use crate::engine::exchange::{Counters, Order, Serve, Shared};
use crate::engine::net::content::content;
use bytes::Bytes;
use http_body_util::Full;
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
    path: String,
    body: Bytes,
}

impl Server {
    /// One that serves the content of a trial.
    pub fn of(order: &Order, listener: &Arc<TcpListener>) -> Self {
        let body = content(order.seed, RESPONSE, order.response)[..order.response].to_vec();
        let site = Site { path: path(order), body: spoilt(body).into() };
        Self { listener: Arc::clone(listener), site, acceptor: Acceptor::of(order) }
    }
}

impl Site {
    /// Whether this is a request for the content, and the response.
    fn answer(&self, request: &Request<Incoming>) -> (bool, Response<Full<Bytes>>) {
        let known = request.method() == Method::GET && request.uri().path() == self.path;
        let mut response = Response::new(Full::new(match known {
            true => self.body.clone(),
            false => Bytes::new(),
        }));
        if !known {
            *response.status_mut() = StatusCode::NOT_FOUND;
        }
        (known, response)
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
    let answer = |request| {
        let (counts, response) = site.answer(&request);
        if counts {
            // One thread writes.
            counters.done.store(counters.done.load(Relaxed) + 1, Relaxed);
        }
        std::future::ready(Ok::<_, Infallible>(response))
    };
    // A client that is gone counts that itself.
    let _ = http1::Builder::new().serve_connection(TokioIo::new(socket), service_fn(answer)).await;
}
