//! Messages with points and clouds.

crate::lcm_types! {
    package drake;

    /// A point (m).
    struct lcmt_point {
        double x;
        double y;
        double z;
    }

    /// An orientation.
    struct lcmt_quaternion {
        double w;
        double x;
        double y;
        double z;
    }

    /// A field of a cloud's points.
    struct lcmt_point_cloud_field {
        /// Name of the field, such as `x` or `rgb`.
        string name;
        /// Offset of the field within a point (bytes).
        int32_t byte_offset;

        const int8_t INT8 = 1, UINT8 = 2, INT16 = 3, UINT16 = 4, INT32 = 5, UINT32 = 6, FLOAT32 = 7,
            FLOAT64 = 8;
        /// Type of the elements, one of the constants.
        int8_t datatype;
        /// Number of elements.
        int32_t count;
    }

    /// Points with fields of any type, in memory layout.
    struct lcmt_point_cloud {
        /// Time (µs).
        int64_t utime;
        /// Name of the frame that positions refer to.
        string frame_name;
        /// Number of points in a row.
        int64_t width;
        /// Number of rows; 1 if the cloud is unordered.
        int64_t height;
        int32_t num_fields;
        /// Fields of a point.
        lcmt_point_cloud_field fields[num_fields];

        const int64_t IS_BIGENDIAN = 1, IS_STRICTLY_FINITE = 2;
        /// Sum of flag constants.
        int64_t flags;
        /// Distance between points (bytes).
        int32_t point_step;
        /// Distance between rows (bytes).
        int64_t row_step;
        int16_t filler_size;
        /// Padding that aligns `data` in the sender's memory.
        byte filler[filler_size];
        int64_t data_size;
        /// The points.
        byte data[data_size];
    }
}
