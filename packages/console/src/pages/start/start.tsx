import { Empty } from '../../parts/empty'
import { Heading } from '../../parts/heading'
import { words } from '../../words'

/** Shown to a person who has no edition yet. */
export const Start = () => (
  <>
    <Heading title={words.common.noEdition} />
    <Empty title={words.common.noEdition} hint={words.common.noEditionHint} />
  </>
)
