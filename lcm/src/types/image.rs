//! Messages with images.

crate::lcm_types! {
    package drake;

    /// Time and frame of a measurement.
    struct lcmt_header {
        /// Sequence number, if the sender counts messages.
        int32_t seq;
        /// Time (µs).
        int64_t utime;
        /// Name of the frame that the data refers to.
        string frame_name;
    }

    /// One image.
    struct lcmt_image {
        /// Time and name of the image.
        lcmt_header header;
        /// Number of columns.
        int32_t width;
        /// Number of rows.
        int32_t height;
        /// Distance between rows before compression (bytes).
        int32_t row_stride;
        int32_t size;
        /// Pixels row by row from the top, compressed.
        byte data[size];
        /// Whether multi-byte channels are big-endian.
        boolean bigendian;

        const int8_t PIXEL_FORMAT_GRAY = 0, PIXEL_FORMAT_RGB = 1, PIXEL_FORMAT_BGR = 2, PIXEL_FORMAT_RGBA = 3,
            PIXEL_FORMAT_BGRA = 4, PIXEL_FORMAT_DEPTH = 5, PIXEL_FORMAT_LABEL = 6, PIXEL_FORMAT_MASK = 7,
            PIXEL_FORMAT_DISPARITY = 8, PIXEL_FORMAT_BAYER_BGGR = 9, PIXEL_FORMAT_BAYER_RGGB = 10,
            PIXEL_FORMAT_BAYER_GBRG = 11, PIXEL_FORMAT_BAYER_GRBG = 12, PIXEL_FORMAT_INVALID = -1;
        /// Pixel format, one of the constants.
        int8_t pixel_format;

        const int8_t CHANNEL_TYPE_INT8 = 0, CHANNEL_TYPE_UINT8 = 1, CHANNEL_TYPE_INT16 = 2,
            CHANNEL_TYPE_UINT16 = 3, CHANNEL_TYPE_INT32 = 4, CHANNEL_TYPE_UINT32 = 5,
            CHANNEL_TYPE_FLOAT32 = 6, CHANNEL_TYPE_FLOAT64 = 7, CHANNEL_TYPE_INVALID = -1;
        /// Channel type, one of the constants.
        int8_t channel_type;

        const int8_t COMPRESSION_METHOD_NOT_COMPRESSED = 0, COMPRESSION_METHOD_ZLIB = 1,
            COMPRESSION_METHOD_JPEG = 2, COMPRESSION_METHOD_PNG = 3, COMPRESSION_METHOD_INVALID = -1;
        /// Compression method, one of the constants.
        int8_t compression_method;
    }

    /// Images of the same time.
    struct lcmt_image_array {
        /// Time of the images.
        lcmt_header header;
        int32_t num_images;
        /// The images.
        lcmt_image images[num_images];
    }
}
