//! Points.

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

    /// One field of the points of a cloud.
    struct lcmt_point_cloud_field {
        /// `x`, `rgb`, ...
        string name;
        /// Where it is in a point.
        int32_t byte_offset;

        const int8_t INT8 = 1, UINT8 = 2, INT16 = 3, UINT16 = 4, INT32 = 5, UINT32 = 6, FLOAT32 = 7,
            FLOAT64 = 8;
        /// One of the types.
        int8_t datatype;
        /// How many there are of it.
        int32_t count;
    }

    /// Points with fields of any types, as they lie in memory.
    struct lcmt_point_cloud {
        /// Time (µs).
        int64_t utime;
        /// The frame that positions are in.
        string frame_name;
        /// Points of a row.
        int64_t width;
        /// Rows; 1 where the cloud has no order.
        int64_t height;
        int32_t num_fields;
        /// What a point holds.
        lcmt_point_cloud_field fields[num_fields];

        const int64_t IS_BIGENDIAN = 1, IS_STRICTLY_FINITE = 2;
        /// A sum of the constants.
        int64_t flags;
        /// Bytes from one point to the next.
        int32_t point_step;
        /// Bytes from one row to the next.
        int64_t row_step;
        int16_t filler_size;
        /// So many bytes that what follows is aligned in the sender's memory.
        byte filler[filler_size];
        int64_t data_size;
        /// The points.
        byte data[data_size];
    }
}
