/** What happened to a tracked link of a campaign. */
export interface LinkCounts {
  /** The position among the campaign's links. */
  link: number
  /** Clicks by people, of which each person has at most `maxClicksPerPerson`. */
  clicks: number
  people: number
  /** Messages in which a program followed the link. */
  machine_clicked: number
}

/** Bounds what a recipient who clicks without end can store. */
export const maxClicksPerPerson = 20
