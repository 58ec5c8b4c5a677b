//! Builds the viewer page.
fn main() {
    let out =
        std::path::PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets it")).join("dist");
    std::fs::create_dir_all(&out).expect("the directory can be made");
    std::fs::write(
        out.join("page.html"),
        "<!doctype html><title>Meshcat</title>",
    )
    .expect("written");
    for name in ["viewer.js", "viewer.js.gz", "boot.js"] {
        std::fs::write(out.join(name), "").expect("written");
    }
}
