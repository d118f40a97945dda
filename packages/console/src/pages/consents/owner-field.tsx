import { Select } from '@mantine/core'
import type { Schema } from '../../api'
import { loadWords } from '../../words'

const t = await loadWords('consents')

interface Props {
  form: { getInputProps: (name: 'owner') => object }
  edition: Schema['EditionDetail']
  /** False for roles of an edition, which act for it alone. */
  isWide: boolean
  onChange?: (owner: string | null) => void
}

/** Chooses whether something belongs to the organisation or to the edition. */
export const OwnerField = ({ form, edition, isWide, ...change }: Props) => (
  <Select
    label={t.owner}
    description={t.ownerHint}
    allowDeselect={false}
    disabled={!isWide}
    data={[
      { value: 'organization', label: t.owners.organization },
      { value: 'edition', label: edition.full_name },
    ]}
    {...form.getInputProps('owner')}
    {...change}
  />
)
