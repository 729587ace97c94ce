//! The target that a fuzzing program runs: `BAGWISE_FUZZ` names it. A program has several, because linking takes longer than
//! compiling one.

use std::sync::OnceLock;

type Target = (&'static str, fn(&[u8]));

static CHOSEN: OnceLock<Target> = OnceLock::new();

/// Runs the target among these that was chosen.
pub(crate) fn run(targets: &[Target], bytes: &[u8]) {
    let target = CHOSEN.get_or_init(|| {
        // Small data are done before another thread has woken up.
        let own = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build_global();
        own.expect("the first threads of the process");
        let name = std::env::var("BAGWISE_FUZZ").expect("BAGWISE_FUZZ names a target");
        *targets.iter().find(|target| target.0 == name).expect("BAGWISE_FUZZ names a target")
    });
    target.1(bytes);
}
