//! Python's `strftime` of a time that is an input.

use crate::request::Time;

const DAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// The wall time of a point in time, as it is written: transformers asks a clock that knows no zone.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wall {
    year: i64,
    month: i64,
    day: i64,
    hour: i64,
    minute: i64,
    second: i64,
    microsecond: i64,
}

impl Wall {
    pub fn new(time: &Time<'_>) -> Self {
        let text = time.as_str();
        let number = |from: usize, to: usize| text.get(from..to).and_then(|digits| digits.parse().ok()).unwrap_or(0);
        let fraction = text.get(19..).and_then(|rest| rest.strip_prefix('.')).unwrap_or("");
        let digits = fraction.chars().take_while(char::is_ascii_digit).chain("000000".chars()).take(6);
        Wall {
            year: number(0, 4),
            month: number(5, 7),
            day: number(8, 10),
            hour: number(11, 13),
            minute: number(14, 16),
            second: number(17, 19),
            microsecond: digits.collect::<String>().parse().unwrap_or(0),
        }
    }

    /// What the directives of `format` give in the C locale; an unknown one stays as it stands.
    pub fn format(&self, format: &str) -> String {
        let mut out = String::new();
        let mut rest = format.chars();
        while let Some(character) = rest.next() {
            if character != '%' {
                out.push(character);
                continue;
            }
            let mut ahead = rest.clone();
            let (flag, directive) = match ahead.next() {
                Some(flag @ ('-' | '_' | '0' | '^')) => (Some(flag), ahead.next()),
                other => (None, other),
            };
            match directive.and_then(|directive| self.directive(flag, directive)) {
                Some(text) => {
                    out.push_str(&text);
                    rest = ahead;
                }
                None => out.push('%'),
            }
        }
        out
    }

    fn directive(&self, flag: Option<char>, directive: char) -> Option<String> {
        let number = |value: i64, width: usize, pad: char| match (flag, pad) {
            (Some('-'), _) => value.to_string(),
            (Some('_'), _) | (None, ' ') => format!("{value:>width$}"),
            _ => format!("{value:0>width$}"),
        };
        let name = |name: &str| if flag == Some('^') { name.to_uppercase() } else { name.to_owned() };
        let hour_12 = (self.hour + 11) % 12 + 1;
        Some(match directive {
            'Y' => number(self.year, 1, '0'),
            'C' => number(self.year / 100, 2, '0'),
            'y' => number(self.year % 100, 2, '0'),
            'm' => number(self.month, 2, '0'),
            'd' => number(self.day, 2, '0'),
            'e' => number(self.day, 2, ' '),
            'H' => number(self.hour, 2, '0'),
            'k' => number(self.hour, 2, ' '),
            'I' => number(hour_12, 2, '0'),
            'l' => number(hour_12, 2, ' '),
            'M' => number(self.minute, 2, '0'),
            'S' => number(self.second, 2, '0'),
            'f' => format!("{:06}", self.microsecond),
            'j' => number(self.day_of_year(), 3, '0'),
            'w' => self.weekday().to_string(),
            'u' => ((self.weekday() + 6) % 7 + 1).to_string(),
            'U' => number((self.day_of_year() + 6 - self.weekday()) / 7, 2, '0'),
            'W' => number((self.day_of_year() + 6 - (self.weekday() + 6) % 7) / 7, 2, '0'),
            'V' => number(self.iso_week().1, 2, '0'),
            'G' => number(self.iso_week().0, 4, '0'),
            'a' => name(&DAYS[self.weekday() as usize][..3]),
            'A' => name(DAYS[self.weekday() as usize]),
            'b' | 'h' => name(&self.month_name()[..3]),
            'B' => name(self.month_name()),
            'p' => (if self.hour < 12 { "AM" } else { "PM" }).to_owned(),
            'P' => (if self.hour < 12 { "am" } else { "pm" }).to_owned(),
            'c' => self.format("%a %b %e %H:%M:%S %Y"),
            'D' | 'x' => self.format("%m/%d/%y"),
            'T' | 'X' => self.format("%H:%M:%S"),
            'F' => self.format("%Y-%m-%d"),
            'R' => self.format("%H:%M"),
            'r' => self.format("%I:%M:%S %p"),
            // A clock without a zone has neither name nor offset.
            'Z' | 'z' => String::new(),
            'n' => "\n".to_owned(),
            't' => "\t".to_owned(),
            '%' => "%".to_owned(),
            _ => return None,
        })
    }

    fn month_name(&self) -> &'static str {
        MONTHS.get(self.month as usize - 1).copied().unwrap_or("")
    }

    /// Days since Sunday.
    fn weekday(&self) -> i64 {
        let year = self.year - i64::from(self.month < 3);
        let shift = [0, 3, 2, 5, 0, 3, 5, 1, 4, 6, 2, 4][self.month as usize - 1];
        (year + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + shift + self.day).rem_euclid(7)
    }

    fn day_of_year(&self) -> i64 {
        let before = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334][self.month as usize - 1];
        before + self.day + i64::from(self.month > 2 && is_leap(self.year))
    }

    /// The year and week of ISO 8601: the week belongs to the year that holds its Thursday.
    fn iso_week(&self) -> (i64, i64) {
        let thursday = self.day_of_year() + 3 - (self.weekday() + 6) % 7;
        let days = |year: i64| 365 + i64::from(is_leap(year));
        let (year, day) = match thursday {
            day if day < 1 => (self.year - 1, day + days(self.year - 1)),
            day if day > days(self.year) => (self.year + 1, day - days(self.year)),
            day => (self.year, day),
        };
        (year, (day - 1) / 7 + 1)
    }
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}
