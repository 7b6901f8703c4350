//! Knows the screen that stays: the terminal in its other mode, keys, and the way back.
//!
//! The terminal is brought back when the person leaves, on a signal, on an error, and on a panic.

use super::super::error::CliError;
use super::super::terminal;
use super::follow::{EVERY, Follower, pause};
use super::sheet::{Sheet, View};
use super::told;
use press::report::watch::Screen;
use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Longest wait for a key before the stop flag and the size of the terminal are looked at.
const GLANCE: Duration = Duration::from_millis(500);
/// Rows of a page.
const PAGE: usize = 5;
/// Nice value: whatever is measured goes before a screen.
const NICE: i32 = 19;

/// What a key asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    /// Leave.
    Quit,
    /// Scroll the first list by so many rows.
    Scroll(isize),
    /// Another part of a survey, forwards or backwards.
    Part(isize),
    /// Show or hide the keys.
    Help,
    /// Draw again.
    Draw,
}

/// Brings the terminal back when it goes.
struct Restored;

impl Drop for Restored {
    fn drop(&mut self) {
        // Where the terminal is gone, nobody can be told.
        let _ = ratatui::try_restore();
    }
}

/// Shows the runs until the person leaves or a signal comes.
///
/// # Errors
/// When the runs cannot be read, or the terminal cannot be written to.
pub fn show(mut follower: Follower) -> Result<(), CliError> {
    let stop = Arc::new(AtomicBool::new(false));
    // A hang-up ends the program at once: there is no terminal left to bring back.
    use signal_hook::consts::{SIGINT, SIGTERM};
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&stop))?;
    }
    // Refused to nobody; were it, the screen would only be less polite.
    let _ = rustix::process::nice(NICE);
    // What is wrong with the store is said on the terminal as it was.
    follower.look()?;
    let mut terminal = ratatui::try_init()?;
    let _restored = Restored;
    let mut watcher = Watcher { follower, view: View::default(), ahead: 0 };
    watcher.view.unicode = terminal::unicode();
    watcher.run(&mut terminal, &stop)
}

struct Watcher {
    follower: Follower,
    view: View,
    /// Parts from the one that is open to the one that is shown.
    ahead: usize,
}

impl Watcher {
    fn run(&mut self, terminal: &mut DefaultTerminal, stop: &AtomicBool) -> Result<(), CliError> {
        let mut next = Instant::now() + EVERY;
        let mut screen = self.told(terminal)?;
        self.draw(&screen, terminal)?;
        while !stop.load(Ordering::Relaxed) {
            let wait = next.saturating_duration_since(Instant::now()).min(GLANCE);
            if hung_up(wait)? {
                break;
            }
            let here = event::poll(Duration::ZERO)?;
            let wish = if here { wish(&event::read()?) } else { None };
            match wish {
                Some(Wish::Quit) => break,
                Some(wish) => {
                    if self.follow(wish) {
                        screen = self.told(terminal)?;
                    }
                    self.draw(&screen, terminal)?;
                }
                None => {}
            }
            if Instant::now() >= next {
                let begun = Instant::now();
                if self.follower.look()? {
                    screen = self.told(terminal)?;
                    self.draw(&screen, terminal)?;
                }
                next = Instant::now() + pause(begun.elapsed());
            }
        }
        Ok(())
    }

    /// Does what a key asks for; gives whether other words are needed for it.
    fn follow(&mut self, wish: Wish) -> bool {
        let scroll = |from: usize, by: isize| from.saturating_add_signed(by);
        match wish {
            Wish::Scroll(by) => self.view.scroll = scroll(self.view.scroll, by),
            Wish::Help => self.view.help = !self.view.help,
            Wish::Part(by) => {
                let parts = self.follower.stages().len().max(1);
                self.ahead = (self.ahead + parts).saturating_add_signed(by) % parts;
                self.view.scroll = 0;
            }
            Wish::Quit | Wish::Draw => {}
        }
        matches!(wish, Wish::Part(_) | Wish::Draw)
    }

    fn told(&self, terminal: &DefaultTerminal) -> Result<Screen, CliError> {
        told(&self.follower, self.ahead, terminal.size()?.width)
    }

    fn draw(&mut self, screen: &Screen, terminal: &mut DefaultTerminal) -> io::Result<()> {
        let colours = terminal::out_colours();
        terminal.draw(|frame| {
            let area = frame.area();
            let sheet = Sheet::of(screen, self.view, (area.width, Some(area.height)));
            self.view.scroll = self.view.scroll.min(sheet.most);
            sheet.draw(colours, area, frame.buffer_mut());
        })?;
        Ok(())
    }
}

/// Waits for a key at most so long, and gives whether the terminal is gone: a reader of events
/// would read its end for ever.
fn hung_up(wait: Duration) -> io::Result<bool> {
    let keys = io::stdin();
    let mut fds = [PollFd::new(&keys, PollFlags::IN)];
    let wait = Timespec::try_from(wait).map_err(io::Error::other)?;
    match poll(&mut fds, Some(&wait)) {
        // A signal came, which the caller looks for.
        Err(rustix::io::Errno::INTR) => Ok(false),
        Err(other) => Err(other.into()),
        Ok(_) => Ok(fds[0].revents().intersects(PollFlags::HUP | PollFlags::ERR)),
    }
}

/// What an event asks for, if anything.
fn wish(event: &Event) -> Option<Wish> {
    match event {
        Event::Key(key) if key.kind != KeyEventKind::Release => of_key(*key),
        Event::Resize(..) => Some(Wish::Draw),
        _ => None,
    }
}

/// What a key asks for, if anything.
pub fn of_key(key: KeyEvent) -> Option<Wish> {
    let control = key.modifiers.contains(KeyModifiers::CONTROL);
    let page = PAGE.cast_signed();
    Some(match key.code {
        KeyCode::Char('c' | 'd') if control => Wish::Quit,
        KeyCode::Char('q') | KeyCode::Esc => Wish::Quit,
        KeyCode::Char('j') | KeyCode::Down => Wish::Scroll(1),
        KeyCode::Char('k') | KeyCode::Up => Wish::Scroll(-1),
        KeyCode::PageDown | KeyCode::Char(' ') => Wish::Scroll(page),
        KeyCode::PageUp => Wish::Scroll(-page),
        KeyCode::Tab | KeyCode::Right => Wish::Part(1),
        KeyCode::BackTab | KeyCode::Left => Wish::Part(-1),
        KeyCode::Char('?' | 'h') => Wish::Help,
        KeyCode::Char('l') if control => Wish::Draw,
        _ => return None,
    })
}
