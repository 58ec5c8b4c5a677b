//! How messages travel: UDP multicast, log files, URLs that name them.
