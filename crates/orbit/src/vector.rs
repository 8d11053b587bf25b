//! Three numbers as a point or a direction.

/// A point or direction, in kilometres unless said otherwise.
pub type Vec3 = [f64; 3];

/// Sum of the products of the components.
pub fn dot(a: Vec3, b: Vec3) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// From `b` to `a`.
pub fn sub(a: Vec3, b: Vec3) -> Vec3 {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

/// Length.
pub fn norm(a: Vec3) -> f64 {
    dot(a, a).sqrt()
}

/// Length of the way from one point to another.
pub fn distance(a: Vec3, b: Vec3) -> f64 {
    norm(sub(a, b))
}

/// `point` as seen from axes that have been turned by `angle` (radians) about the third one.
pub fn turned(point: Vec3, sine_cosine: (f64, f64)) -> Vec3 {
    let (sine, cosine) = sine_cosine;
    [
        cosine * point[0] + sine * point[1],
        cosine * point[1] - sine * point[0],
        point[2],
    ]
}

/// Smallest distance of the straight line between two points from the centre of the earth.
pub fn closest_approach(a: Vec3, b: Vec3) -> f64 {
    let along = sub(b, a);
    let length_squared = dot(along, along);
    if length_squared == 0.0 {
        return norm(a);
    }
    let share = (-dot(a, along) / length_squared).clamp(0.0, 1.0);
    norm([
        a[0] + share * along[0],
        a[1] + share * along[1],
        a[2] + share * along[2],
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_past_the_centre_is_nearest_in_its_middle_and_one_away_from_it_at_its_end() {
        assert_eq!(closest_approach([3.0, -4.0, 0.0], [3.0, 4.0, 0.0]), 3.0);
        assert_eq!(closest_approach([3.0, 4.0, 0.0], [6.0, 8.0, 0.0]), 5.0);
        assert_eq!(closest_approach([0.0, 2.0, 0.0], [0.0, 2.0, 0.0]), 2.0);
    }

    #[test]
    fn turning_the_axes_eastwards_moves_a_fixed_point_westwards() {
        let seen = turned([1.0, 0.0, 5.0], (1.0, 0.0)); // by 90 degrees
        assert_eq!(seen, [0.0, -1.0, 5.0]);
    }
}
