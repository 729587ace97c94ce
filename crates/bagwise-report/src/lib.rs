//! Turns evaluation records into a report: one self-contained HTML file.
//!
//! ```text
//! run, its data at hand ──▶ Context (gather.rs) ──▶ report.json
//! folder of a run ──▶ LoadedRun (load.rs): records, roster, Context
//!                       ▼
//!                     View (view.rs): verdict, answers bag by bag, names that may be shown, colours
//!                       ▼
//!                     page.rs: verdict, warnings, results, figures/, audit ──▶ Markup ──▶ HTML
//! ```
//!
//! Only `gather.rs` looks at data, when a run happens, and nothing is trained. All else needs none: a report can be drawn
//! again, with other options or by a later bagwise, wherever the folder is. Markup is balanced and escaped by construction
//! (`markup.rs`), figures are SVG with text alternatives (`plot.rs`), style and script lie in `assets/`. The page reads well without the script, which adds sorting, filtering
//! and highlighting.

mod audit;
mod cohorts;
mod context;
mod explained;
mod figures;
mod forest;
mod gather;
mod joint;
mod load;
mod markup;
mod overview;
mod page;
pub mod paper;
mod plot;
mod png;
mod results;
mod sha256;
mod table;
mod view;
mod warnings;

pub use bagwise::run::GramPicture;
pub use context::{Context, CoverageSummary, DataSummary, KeptColumn, ModelSource, SetupSummary, Suspicion};
pub use gather::coverage;
pub use joint::{Joint, JointLine, JointMethod, JointRanks, JointRun, joint};
pub use load::LoadedRun;
pub use page::{ReportOptions, render, render_with_paper};
pub use sha256::sha256;
