//! The closed vocabularies of fragments: each word of the request is one variant, and no other value exists.

/// An enum of words, spelled as in the request and in reports.
macro_rules! words {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $name { $($(#[$doc])* $variant,)+ }

        impl $name {
            /// All of them, in their order.
            pub const ALL: &'static [$name] = &[$($name::$variant,)+];

            /// The word for it.
            pub const fn as_str(self) -> &'static str {
                match self { $($name::$variant => $word,)+ }
            }

            /// What a word stands for.
            pub fn of_word(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|known| known.as_str() == word)
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }
    };
}

words! {
    /// What a fragment is: it decides where the fragment stands and which part of the budget it draws on.
    FragmentKind {
        /// A rule that must be kept.
        Policy = "policy",
        /// A standing instruction.
        Instruction = "instruction",
        /// What a tool can do, in words.
        ToolSpec = "tool_spec",
        /// How a kind of task is usually done.
        Skill = "skill",
        /// What is to be reached.
        Goal = "goal",
        /// When it is reached.
        SuccessContract = "success_contract",
        /// What the answer must look like.
        OutputContract = "output_contract",
        /// What is planned.
        Plan = "plan",
        /// How far the run has come.
        RunState = "run_state",
        /// What was said and done before, as it was or as a summary.
        History = "history",
        /// Material that was looked up.
        Evidence = "evidence",
        /// What is remembered of earlier runs.
        Memory = "memory",
        /// What a tool has just answered.
        ToolResult = "tool_result",
        /// What the user has just said.
        UserInput = "user_input",
    }
}

words! {
    /// Where a text comes from; the further down, the more it may claim. Not a degree of truth.
    Trust {
        /// From outside: a page, a mail, a repository.
        External = "external",
        /// From the files that are worked on.
        Workspace = "workspace",
        /// From the person who is served.
        User = "user",
        /// From the program that runs the agent; it alone may speak as `system` or `developer`.
        Runtime = "runtime",
    }
}

words! {
    /// How well something is known, best first.
    EvidenceLevel {
        /// Read or measured.
        Observed = "observed",
        /// Checked against something else.
        Verified = "verified",
        /// Said by someone.
        Reported = "reported",
        /// Concluded.
        Inferred = "inferred",
    }
}

words! {
    /// A part of the budget, answering for one layer; in layer order.
    Responsibility {
        /// Layer 1: `policy`, `instruction`, and the segment `prefix`.
        ImmutableInstructions = "immutable_instructions",
        /// Layer 2: `tool_spec`, `skill`, and the segment `injections`.
        SelectedSkillsAndTools = "selected_skills_and_tools",
        /// Layer 3: `goal`, `success_contract`, `output_contract`, and the segment `goal`.
        GoalAndAcceptance = "goal_and_acceptance",
        /// Layer 4: `plan`, `run_state`.
        RunState = "run_state",
        /// Layer 5: `history`, and behind it the segment `trajectory`.
        RecentHistory = "recent_history",
        /// Layer 6: `evidence`, `memory`.
        RetrievedMaterial = "retrieved_material",
        /// Layer 7: `tool_result`.
        CurrentObservation = "current_observation",
        /// Layer 8: `user_input`.
        UserInput = "user_input",
    }
}

words! {
    /// What a budget counts.
    Unit {
        /// Unicode scalar values, Python's `len`.
        Chars = "chars",
        /// Tokens, as the request declares them.
        Tokens = "tokens",
    }
}

words! {
    /// Which end of a text is kept where it is trimmed.
    Keep {
        /// The beginning.
        Head = "head",
        /// The end.
        Tail = "tail",
        /// Both ends; the middle goes.
        HeadTail = "head_tail",
    }
}

words! {
    /// Where a text may be cut. None of these lies inside a code fence or a JSON value.
    Boundary {
        /// Behind any line.
        Line = "line",
        /// Behind an empty line.
        Paragraph = "paragraph",
        /// Before a code fence, or behind one.
        Fence = "fence",
    }
}

words! {
    /// A rule by which a conflict is settled, where the request asks for it.
    Preference {
        /// The newer version of the same source holds.
        NewerVersion = "newer_version",
        /// The higher trust at the same scope holds.
        HigherTrust = "higher_trust",
    }
}

/// The place of a fragment in the prompt: 1 to 8, what changes least coming first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Layer(Responsibility);

impl Layer {
    /// The eight layers, in prompt order.
    pub fn all() -> impl Iterator<Item = Layer> {
        Responsibility::ALL.iter().copied().map(Layer)
    }

    /// Its number, from 1.
    pub fn number(self) -> u8 {
        self.0 as u8 + 1
    }

    /// The part of the budget that answers for it.
    pub fn responsibility(self) -> Responsibility {
        self.0
    }
}

impl FragmentKind {
    /// Where fragments of this kind stand.
    pub fn layer(self) -> Layer {
        Layer(match self {
            FragmentKind::Policy | FragmentKind::Instruction => Responsibility::ImmutableInstructions,
            FragmentKind::ToolSpec | FragmentKind::Skill => Responsibility::SelectedSkillsAndTools,
            FragmentKind::Goal | FragmentKind::SuccessContract | FragmentKind::OutputContract => {
                Responsibility::GoalAndAcceptance
            }
            FragmentKind::Plan | FragmentKind::RunState => Responsibility::RunState,
            FragmentKind::History => Responsibility::RecentHistory,
            FragmentKind::Evidence | FragmentKind::Memory => Responsibility::RetrievedMaterial,
            FragmentKind::ToolResult => Responsibility::CurrentObservation,
            FragmentKind::UserInput => Responsibility::UserInput,
        })
    }
}

impl Responsibility {
    /// The layer it answers for.
    pub fn layer(self) -> Layer {
        Layer(self)
    }
}

impl serde::Serialize for Layer {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u8(self.number())
    }
}
