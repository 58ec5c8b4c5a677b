//! Images.

crate::lcm_types! {
    package drake;

    /// When and where something was seen.
    struct lcmt_header {
        /// Counts messages, where the sender does.
        int32_t seq;
        /// Time (µs).
        int64_t utime;
        /// The frame that it is about.
        string frame_name;
    }

    /// One image.
    struct lcmt_image {
        /// Its time and name.
        lcmt_header header;
        /// Columns.
        int32_t width;
        /// Rows.
        int32_t height;
        /// Bytes from one row to the next, before compression.
        int32_t row_stride;
        int32_t size;
        /// Pixels by rows from the top, compressed.
        byte data[size];
        /// Whether channels of several bytes are big-endian.
        boolean bigendian;

        const int8_t PIXEL_FORMAT_GRAY = 0, PIXEL_FORMAT_RGB = 1, PIXEL_FORMAT_BGR = 2, PIXEL_FORMAT_RGBA = 3,
            PIXEL_FORMAT_BGRA = 4, PIXEL_FORMAT_DEPTH = 5, PIXEL_FORMAT_LABEL = 6, PIXEL_FORMAT_MASK = 7,
            PIXEL_FORMAT_DISPARITY = 8, PIXEL_FORMAT_BAYER_BGGR = 9, PIXEL_FORMAT_BAYER_RGGB = 10,
            PIXEL_FORMAT_BAYER_GBRG = 11, PIXEL_FORMAT_BAYER_GRBG = 12, PIXEL_FORMAT_INVALID = -1;
        /// One of the formats.
        int8_t pixel_format;

        const int8_t CHANNEL_TYPE_INT8 = 0, CHANNEL_TYPE_UINT8 = 1, CHANNEL_TYPE_INT16 = 2,
            CHANNEL_TYPE_UINT16 = 3, CHANNEL_TYPE_INT32 = 4, CHANNEL_TYPE_UINT32 = 5,
            CHANNEL_TYPE_FLOAT32 = 6, CHANNEL_TYPE_FLOAT64 = 7, CHANNEL_TYPE_INVALID = -1;
        /// One of the types.
        int8_t channel_type;

        const int8_t COMPRESSION_METHOD_NOT_COMPRESSED = 0, COMPRESSION_METHOD_ZLIB = 1,
            COMPRESSION_METHOD_JPEG = 2, COMPRESSION_METHOD_PNG = 3, COMPRESSION_METHOD_INVALID = -1;
        /// One of the methods.
        int8_t compression_method;
    }

    /// Images of one time.
    struct lcmt_image_array {
        /// Their time.
        lcmt_header header;
        int32_t num_images;
        /// The images.
        lcmt_image images[num_images];
    }
}
