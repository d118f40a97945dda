import type { Schema } from '../api'
import { loadWords } from '../words'
import { Status } from './status'

const t = await loadWords('editionSettings')

const tones = { archived: 'none', draft: 'act', published: 'good' } as const

interface Props {
  edition: Pick<Schema['EditionListItem'], 'is_archived' | 'is_draft'>
}

/** Tells whether the public sees the edition. */
export function EditionState({ edition: { is_archived, is_draft } }: Props) {
  const state = is_archived ? 'archived' : is_draft ? 'draft' : 'published'
  return <Status tone={tones[state]} label={t.states[state]} />
}
