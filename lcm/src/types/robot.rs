//! Messages with states of robots, commands to robots, and signals.

crate::lcm_types! {
    package drake;

    /// A vector with named elements.
    struct lcmt_drake_signal {
        int32_t dim;
        double val[dim];
        string coord[dim];
        /// Time (µs).
        int64_t timestamp;
    }

    /// A vector at a time, as sent by `LcmScopeSystem`.
    struct lcmt_scope {
        /// Time (µs).
        int64_t utime;
        int32_t size;
        double value[size];
    }

    /// Joint positions.
    struct lcmt_robot_state {
        /// Time (µs).
        int64_t utime;
        int16_t num_joints;
        string joint_name[num_joints];
        float joint_position[num_joints];
    }

    /// A sequence of states.
    struct lcmt_robot_plan {
        /// Time (µs).
        int64_t utime;
        int32_t num_states;
        lcmt_robot_state plan[num_states];
    }

    /// A force (N) and a torque (Nm).
    struct lcmt_force_torque {
        /// Time (µs).
        int64_t timestamp;
        double fx;
        double fy;
        double fz;
        double tx;
        double ty;
        double tz;
    }

    /// Command to a KUKA iiwa: angles (rad), torques (Nm).
    struct lcmt_iiwa_command {
        /// Time (µs).
        int64_t utime;
        int32_t num_joints;
        double joint_position[num_joints];
        int32_t num_torques;
        double joint_torque[num_torques];
    }

    /// Status of a KUKA iiwa, measured and commanded: angles (rad), rates (rad/s), torques (Nm).
    struct lcmt_iiwa_status {
        /// Time (µs).
        int64_t utime;
        int32_t num_joints;
        double joint_position_measured[num_joints];
        double joint_velocity_estimated[num_joints];
        double joint_position_commanded[num_joints];
        double joint_position_ipo[num_joints];
        double joint_torque_measured[num_joints];
        double joint_torque_commanded[num_joints];
        double joint_torque_external[num_joints];
    }

    /// Clocks of a KUKA iiwa and its host (µs).
    struct lcmt_iiwa_status_telemetry {
        int64_t host_utime;
        int64_t iiwa_utime;
        int64_t estimated_dt_host_minus_iiwa;
    }

    /// Command to a Schunk WSG gripper: distance of the fingers (mm), force (N).
    struct lcmt_schunk_wsg_command {
        /// Time (µs).
        int64_t utime;
        double target_position_mm;
        double force;
    }

    /// Status of a Schunk WSG gripper: distance of the fingers (mm), force (N), speed (mm/s).
    struct lcmt_schunk_wsg_status {
        /// Time (µs).
        int64_t utime;
        double actual_position_mm;
        double actual_force;
        double actual_speed_mm_per_s;
    }

    /// Command to a Franka Panda: angles (rad), rates (rad/s), torques (Nm).
    struct lcmt_panda_command {
        /// Time (µs).
        int64_t utime;
        int32_t num_joint_position;
        double joint_position[num_joint_position];
        int32_t num_joint_velocity;
        double joint_velocity[num_joint_velocity];
        int32_t num_joint_torque;
        double joint_torque[num_joint_torque];
        int8_t control_mode_expected;
    }

    /// Status of a Franka Panda, measured and commanded: angles (rad), rates (rad/s), torques (Nm).
    struct lcmt_panda_status {
        /// Time (µs).
        int64_t utime;
        int32_t num_joints;
        double joint_position[num_joints];
        double joint_position_desired[num_joints];
        double joint_velocity[num_joints];
        double joint_velocity_desired[num_joints];
        double joint_acceleration_desired[num_joints];
        double joint_torque[num_joints];
        double joint_torque_desired[num_joints];
        double joint_torque_external[num_joints];
        double control_command_success_rate;
        const int8_t kOther = 0, kIdle = 1, kMove = 2, kGuiding = 3, kReflex = 4, kUserStopped = 5,
            kAutomaticErrorRecovery = 6;
        int8_t robot_mode;
        int64_t robot_utime;
        const int8_t CONTROL_MODE_POSITION = 1, CONTROL_MODE_VELOCITY = 2, CONTROL_MODE_TORQUE = 4;
        int8_t control_mode;
    }

    /// Command to a Kinova Jaco: angles (rad), rates (rad/s).
    struct lcmt_jaco_command {
        /// Time (µs).
        int64_t utime;
        int32_t num_joints;
        double joint_position[num_joints];
        double joint_velocity[num_joints];
        int32_t num_fingers;
        double finger_position[num_fingers];
        double finger_velocity[num_fingers];
    }

    /// Status of a Kinova Jaco: angles (rad), rates (rad/s), torques (Nm), currents (A).
    struct lcmt_jaco_status {
        /// Time (µs).
        int64_t utime;
        int32_t num_joints;
        double joint_position[num_joints];
        double joint_velocity[num_joints];
        double joint_torque[num_joints];
        double joint_torque_external[num_joints];
        double joint_current[num_joints];
        int32_t num_fingers;
        double finger_position[num_fingers];
        double finger_velocity[num_fingers];
        double finger_torque[num_fingers];
        double finger_torque_external[num_fingers];
        double finger_current[num_fingers];
    }

    /// Command to an Allegro hand: angles (rad), torques (Nm).
    struct lcmt_allegro_command {
        /// Time (µs).
        int64_t utime;
        int32_t num_joints;
        double joint_position[num_joints];
        int32_t num_torques;
        double joint_torque[num_torques];
    }

    /// Status of an Allegro hand, measured and commanded: angles (rad), rates (rad/s), torques
    /// (Nm).
    struct lcmt_allegro_status {
        /// Time (µs).
        int64_t utime;
        int32_t num_joints;
        double joint_position_measured[num_joints];
        double joint_velocity_estimated[num_joints];
        double joint_position_commanded[num_joints];
        double joint_torque_commanded[num_joints];
    }
}
