const paths = {
  databases: 'M4 6c0-2 16-2 16 0s-16 2-16 0zM4 6v6c0 2 16 2 16 0V6M4 12v6c0 2 16 2 16 0v-6',
  replication: 'M4 9h13l-4-4M20 15H7l4 4',
  tasks: 'M4 6h2M9 6h11M4 12h2M9 12h11M4 18h2M9 18h11',
  server: 'M4 19V11M10 19V5M16 19v-6M20 19H3',
  options: 'M4 7h9M17 7h3M15 5v4M4 17h3M11 17h9M9 15v4',
  users: 'M9 11a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7zM3 20c0-7 12-7 12 0M16 5a3 3 0 0 1 0 6M18 14c2 1 3 3 3 6',
  account: 'M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM5 21c0-8 14-8 14 0',
  search: 'M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM16 16l5 5',
};

export function Icon({ name }: { name: keyof typeof paths }) {
  return (
    <svg width="18" height="18" viewBox="0 0 24 24" fill="none" aria-hidden="true">
      <path
        d={paths[name]}
        stroke="currentColor"
        stroke-width="1.8"
        stroke-linecap="round"
        stroke-linejoin="round"
      />
    </svg>
  );
}
