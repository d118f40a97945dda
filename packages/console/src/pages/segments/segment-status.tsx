import type { Schema } from '../../api'
import { Status, type Tone } from '../../parts/status'
import { loadWords } from '../../words'

const segmentsWords = await loadWords('segments')

const tones: Record<Schema['Segment']['status'], Tone> = {
  draft: 'none',
  calculating: 'wait',
  ready: 'good',
  failed: 'bad',
}

export const SegmentStatus = ({ status }: { status: Schema['Segment']['status'] }) => (
  <Status tone={tones[status]} label={segmentsWords.statuses[status]} />
)
