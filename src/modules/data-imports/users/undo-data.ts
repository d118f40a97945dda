import type { PersonUndo, UndoData } from '../../order-import/index.ts'

/** Builds the undo data of a customer who has no order. `person` is null if the import did not change the contact. */
export const createUndoData = ({ person }: { person: PersonUndo | null }): UndoData => ({
  updated: null,
  people: person ? [person] : [],
  catalogue: { products: [], locations: [], variants: [], options: [] },
})
