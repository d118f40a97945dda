/** The same columns, each of which may be null: those of a row that a left join may not find. */
export type Nullable<Row> = { [Key in keyof Row]: Row[Key] | null }
