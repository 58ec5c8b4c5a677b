//! What viewers are told.

crate::lcm_types! {
    package drake;

    /// One geometry of a link.
    struct lcmt_viewer_geometry_data {
        const int8_t BOX = 1, SPHERE = 2, CYLINDER = 3, MESH = 4, CAPSULE = 5, ELLIPSOID = 6;

        /// One of the constants.
        int8_t type;
        /// In the frame of the link (m).
        float position[3];
        /// In the frame of the link: w, x, y, z.
        float quaternion[4];
        /// Red, green, blue, alpha from 0 to 1.
        float color[4];
        /// A mesh: the name of its file, a JSON object that holds it, or empty.
        string string_data;
        int32_t num_float_data;
        /// Sizes of the shape (m): of a box along x, y, z; radius; radius and length; semi-axes; of
        /// a mesh in a file its scale along x, y, z; of another mesh the numbers of vertices and
        /// triangles, positions, and three indices per triangle.
        float float_data[num_float_data];
    }

    /// A link with its geometry.
    struct lcmt_viewer_link_data {
        /// Unique within its `robot_num`.
        string name;
        /// The group of its frame.
        int32_t robot_num;
        int32_t num_geom;
        /// What moves with it.
        lcmt_viewer_geometry_data geom[num_geom];
    }

    /// Everything that a viewer shows, replacing what it showed before.
    struct lcmt_viewer_load_robot {
        int32_t num_links;
        /// All links.
        lcmt_viewer_link_data link[num_links];
    }

    /// Where links are.
    struct lcmt_viewer_draw {
        /// Time of the simulation (ms).
        int64_t timestamp;
        int32_t num_links;
        /// Names of links.
        string link_name[num_links];
        /// Their groups.
        int32_t robot_num[num_links];
        /// Positions in the world (m).
        float position[num_links][3];
        /// Orientations in the world: w, x, y, z.
        float quaternion[num_links][4];
    }

    /// Something that a viewer is to do.
    struct lcmt_viewer_command {
        const int8_t STATUS = 0, LOAD_MODEL = 1, LOAD_RENDERER = 2, SHUTDOWN = 3, START_RECORDING = 4,
            STOP_RECORDING = 5, LOAD_TERRAIN = 6, SET_TERRAIN_TRANSFORM = 7;
        /// One of the constants.
        int8_t command_type;
        /// About what.
        string command_data;
    }

    /// An array for a function of a Python program.
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
        /// The elements in the order of the sender's memory, column by column.
        byte data[num_bytes];
    }

    /// A call of a function of a Python program.
    struct lcmt_call_python {
        /// Which function.
        string function_name;
        /// Where the result goes.
        int64_t lhs;
        int32_t num_rhs;
        /// Its arguments.
        lcmt_call_python_data rhs[num_rhs];
    }
}
