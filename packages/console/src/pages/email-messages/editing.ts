import { createContext, type ReactNode, useContext } from 'react'
import type { LanguageCode } from '../../parts/names'
import type { Block, Draft } from './blocks'

export interface BlockListProps {
  blocks: readonly Block[]
  /** The path of the list in the draft, such as `blocks`. */
  path: string
  isInColumn?: boolean
  onChange: (blocks: Block[]) => void
}

interface Editing {
  organization: string
  edition: string | undefined
  /** The languages whose texts stand side by side. */
  languages: readonly LanguageCode[]
  messageType: Draft['type']
  /** The texts of faults by the path of their field, such as `blocks.0.data.text.en`. */
  faults: Readonly<Record<string, string>>
  /** Shows a list of blocks. Columns have lists in a form of a list. */
  showBlocks: (props: BlockListProps) => ReactNode
}

/** The data that the fields of all blocks share. */
export const EditingContext = createContext<Editing>({
  organization: '',
  edition: undefined,
  languages: ['en'],
  messageType: 'campaign',
  faults: {},
  showBlocks: () => null,
})
export const useEditing = (): Editing => useContext(EditingContext)
