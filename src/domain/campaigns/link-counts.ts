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

/** The largest position of a link that requests can name. */
export const maxLinkPosition = 99_999

/** Bounds what a recipient who clicks without end can store. */
export const maxClicksPerPerson = 20
