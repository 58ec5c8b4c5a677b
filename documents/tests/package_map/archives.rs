//! Creation of archives.

use bzip2::write::BzEncoder;
use flate2::write::GzEncoder;
use lzma_rust2::{XzOptions, XzWriter};
use sha2::{Digest, Sha256};
use std::io::{Cursor, Write};
use tar::{Builder, EntryType, Header};
use tarragon_documents::ArchiveType;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

pub(crate) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes)
        .iter()
        .map(|b| format!("{b:02x}"))
        .collect()
}

#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Kind {
    File,
    Folder,
    Link,
    HardLink,
    Device,
}

/// Kind, name and content of the entries, in order. The content of a link is its target.
#[derive(Clone)]
pub(crate) struct Archive(Vec<(Kind, String, Vec<u8>)>);

impl Archive {
    pub(crate) fn new() -> Self {
        Self(vec![])
    }
    pub(crate) fn with(mut self, kind: Kind, name: &str, content: impl Into<Vec<u8>>) -> Self {
        self.0.push((kind, name.into(), content.into()));
        self
    }
    pub(crate) fn file(self, name: &str, content: impl Into<Vec<u8>>) -> Self {
        self.with(Kind::File, name, content)
    }
    pub(crate) fn folder(self, name: &str) -> Self {
        self.with(Kind::Folder, name, "")
    }
    pub(crate) fn link(self, name: &str, target: &str) -> Self {
        self.with(Kind::Link, name, target)
    }

    pub(crate) fn pack(&self, kind: ArchiveType) -> Vec<u8> {
        match kind {
            ArchiveType::Zip => self.zip(),
            ArchiveType::Tar => self.tar(),
            ArchiveType::Gztar => {
                let mut packed = GzEncoder::new(vec![], flate2::Compression::default());
                packed.write_all(&self.tar()).unwrap();
                packed.finish().unwrap()
            }
            ArchiveType::Bztar => {
                let mut packed = BzEncoder::new(vec![], bzip2::Compression::default());
                packed.write_all(&self.tar()).unwrap();
                packed.finish().unwrap()
            }
            ArchiveType::Xztar => {
                let mut packed = XzWriter::new(vec![], XzOptions::with_preset(1)).unwrap();
                packed.write_all(&self.tar()).unwrap();
                packed.finish().unwrap()
            }
        }
    }

    fn tar(&self) -> Vec<u8> {
        let mut builder = Builder::new(vec![]);
        for (kind, name, content) in &self.0 {
            let mut header = Header::new_gnu();
            header.set_mode(0o644);
            header.set_entry_type(match kind {
                Kind::File => EntryType::Regular,
                Kind::Folder => EntryType::Directory,
                Kind::Link => EntryType::Symlink,
                Kind::HardLink => EntryType::Link,
                Kind::Device => EntryType::Char,
            });
            // Written directly, to bypass the checks of the library.
            let fields = header.as_gnu_mut().unwrap();
            fields.name[..name.len()].copy_from_slice(name.as_bytes());
            let data: &[u8] = match kind {
                Kind::Link | Kind::HardLink => {
                    fields.linkname[..content.len()].copy_from_slice(content);
                    &[]
                }
                _ => content,
            };
            header.set_size(data.len() as u64);
            header.set_cksum();
            builder.append(&header, data).unwrap();
        }
        builder.into_inner().unwrap()
    }

    fn zip(&self) -> Vec<u8> {
        let mut writer = ZipWriter::new(Cursor::new(vec![]));
        let options = SimpleFileOptions::default();
        for (kind, name, content) in &self.0 {
            match kind {
                Kind::Link => {
                    let target = str::from_utf8(content).unwrap();
                    writer.add_symlink(name.as_str(), target, options).unwrap();
                }
                Kind::Folder => writer.add_directory(name.as_str(), options).unwrap(),
                _ => {
                    writer.start_file(name.as_str(), options).unwrap();
                    writer.write_all(content).unwrap();
                }
            }
        }
        writer.finish().unwrap().into_inner()
    }
}

pub(crate) const ALL: [ArchiveType; 5] = [
    ArchiveType::Zip,
    ArchiveType::Tar,
    ArchiveType::Gztar,
    ArchiveType::Bztar,
    ArchiveType::Xztar,
];
