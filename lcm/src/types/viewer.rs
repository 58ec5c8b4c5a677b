//! Messages for viewers.

crate::lcm_types! {
    package drake;

    /// One geometry of a link.
    struct lcmt_viewer_geometry_data {
        const int8_t BOX = 1, SPHERE = 2, CYLINDER = 3, MESH = 4, CAPSULE = 5, ELLIPSOID = 6;

        /// Shape of the geometry, one of the constants.
        int8_t type;
        /// Position in the link's frame (m).
        float position[3];
        /// Orientation in the link's frame: w, x, y, z.
        float quaternion[4];
        /// Red, green, blue, alpha, from 0 to 1.
        float color[4];
        /// For a mesh, its file name, a JSON object that contains it, or empty.
        string string_data;
        int32_t num_float_data;
        /// Dimensions of the shape (m). Box: sizes along x, y, z. Others: radius; radius and
        /// length; or semi-axes. Mesh in a file: scale along x, y, z. Other mesh: numbers of
        /// vertices and triangles, positions, and three indices per triangle.
        float float_data[num_float_data];
    }

    /// A link with its geometry.
    struct lcmt_viewer_link_data {
        /// Unique within its `robot_num`.
        string name;
        /// Group of the link's frame.
        int32_t robot_num;
        int32_t num_geom;
        /// Geometries that move with the link.
        lcmt_viewer_geometry_data geom[num_geom];
    }

    /// The whole scene of a viewer, replacing the previous one.
    struct lcmt_viewer_load_robot {
        int32_t num_links;
        /// All links.
        lcmt_viewer_link_data link[num_links];
    }

    /// Poses of links.
    struct lcmt_viewer_draw {
        /// Simulated time (ms).
        int64_t timestamp;
        int32_t num_links;
        /// Names of links.
        string link_name[num_links];
        /// Groups of the links.
        int32_t robot_num[num_links];
        /// Positions in the world (m).
        float position[num_links][3];
        /// Orientations in the world: w, x, y, z.
        float quaternion[num_links][4];
    }

    /// A command to a viewer.
    struct lcmt_viewer_command {
        const int8_t STATUS = 0, LOAD_MODEL = 1, LOAD_RENDERER = 2, SHUTDOWN = 3, START_RECORDING = 4,
            STOP_RECORDING = 5, LOAD_TERRAIN = 6, SET_TERRAIN_TRANSFORM = 7;
        /// Type of the command, one of the constants.
        int8_t command_type;
        /// Argument of the command.
        string command_data;
    }

    /// An array argument for a function in a Python program.
    struct lcmt_call_python_data {
        const int8_t REMOTE_VARIABLE_REFERENCE = 0, DOUBLE = 1, CHAR = 2, LOGICAL = 3, INT = 4;
        /// Type of the elements.
        int8_t data_type;
        const int8_t MATRIX = 0, VECTOR = 1, SCALAR = 2;
        /// Matrix, vector or scalar.
        int8_t shape_type;
        /// Number of rows.
        int32_t rows;
        /// Number of columns.
        int32_t cols;
        int32_t num_bytes;
        /// Elements in column-major order, in the sender's byte order.
        byte data[num_bytes];
    }

    /// A call of a function in a Python program.
    struct lcmt_call_python {
        /// Name of the function.
        string function_name;
        /// Identifier of the result.
        int64_t lhs;
        int32_t num_rhs;
        /// Arguments of the call.
        lcmt_call_python_data rhs[num_rhs];
    }
}
