import { Button, Group } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { loadWords } from '../../words'

const t = await loadWords('catalogue')
const pages = [
  ['/editions/$edition/products', t.tabs.products],
  ['/editions/$edition/categories', t.tabs.categories],
  ['/editions/$edition/locations', t.tabs.locations],
  ['/editions/$edition/fee-rules', t.tabs.feeRules],
  ['/editions/$edition/pass-designs', t.tabs.passDesigns],
] as const

/** Leads from one part of the catalogue to the others. */
export const CatalogueTabs = ({ edition }: { edition: string }) => (
  <Group component="nav" gap={4} aria-label={t.tabsLabel}>
    {pages.map(([to, label]) => (
      <Button
        key={to}
        size="compact-md"
        fw={500}
        variant="subtle"
        color="gray"
        c="var(--mantine-color-text)"
        className="tab"
        renderRoot={(props) => (
          <Link to={to} params={{ edition }} activeProps={{ 'aria-current': 'page' }} {...props} />
        )}
      >
        {label}
      </Button>
    ))}
  </Group>
)
