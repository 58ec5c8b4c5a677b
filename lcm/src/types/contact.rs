//! Messages about contacts.

use super::LcmtPoint;

crate::lcm_types! {
    package drake;

    /// A point contact.
    struct lcmt_point_pair_contact_info_for_viz {
        /// Time (µs).
        int64_t timestamp;
        string body1_name;
        string body2_name;
        /// Contact point in the world (m).
        double contact_point[3];
        /// Force on the second body, in the world (N).
        double contact_force[3];
        /// Normal from the second body to the first, in the world.
        double normal[3];
    }

    /// A quadrature point of a contact surface, in the world.
    struct lcmt_hydroelastic_quadrature_per_point_data_for_viz {
        /// Position (m).
        double p_WQ[3];
        /// Slip velocity (m/s).
        double vt_BqAq_W[3];
        /// Traction on the first body (Pa).
        double traction_Aq_W[3];
    }

    /// A surface contact, in the world.
    struct lcmt_hydroelastic_contact_surface_for_viz {
        string geometry1_name;
        string body1_name;
        string model1_name;
        /// Whether the body's name is unique among all models.
        boolean body1_unique;
        /// Number of the body's collision geometries.
        int32_t collision_count1;
        string geometry2_name;
        string body2_name;
        string model2_name;
        boolean body2_unique;
        int32_t collision_count2;
        /// Centroid of the surface (m).
        double centroid_W[3];
        /// Force on the first body at the centroid (N).
        double force_C_W[3];
        /// Moment on the first body about the centroid (Nm).
        double moment_C_W[3];
        int32_t num_quadrature_points;
        lcmt_hydroelastic_quadrature_per_point_data_for_viz quadrature_point_data[num_quadrature_points];
        int32_t num_vertices;
        /// Vertices of the surface (m).
        lcmt_point p_WV[num_vertices];
        /// Pressures at the vertices (Pa).
        double pressure[num_vertices];
        int32_t poly_data_int_count;
        /// Polygons one after the other, each as its number of vertices and their indices.
        int32_t poly_data[poly_data_int_count];
    }

    /// All contacts at one time.
    struct lcmt_contact_results_for_viz {
        /// Time (µs).
        int64_t timestamp;
        int32_t num_point_pair_contacts;
        lcmt_point_pair_contact_info_for_viz point_pair_contact_info[num_point_pair_contacts];
        int32_t num_hydroelastic_contacts;
        lcmt_hydroelastic_contact_surface_for_viz hydroelastic_contacts[num_hydroelastic_contacts];
    }
}
